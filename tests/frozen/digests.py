"""Digests of results: arrays by shape, mean, deviation and a few values; pages by their cells."""

import hashlib
import json
import re
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import xarray as xr

from tests.frozen.adapter import FROZEN_NAME, Record

HEAD = 12  # values kept of an array


class Told(dict):
    """The digest of an array: not to be digested again."""


def number(value):
    """Return a float of ten significant digits; what is not finite as a word."""
    value = float(value)
    return float(f"{value:.10g}") if np.isfinite(value) else str(value)


def digest(value, head=HEAD):
    """Return a value as JSON: arrays by shape, mean, sd and a few values at fixed positions."""
    if isinstance(value, xr.DataTree):
        return {old(g): digest(value[g].dataset, head) for g in value.children}
    if isinstance(value, Record):
        value = value.to_dataset()
    if isinstance(value, xr.Dataset):
        return {old(n): digest(v.to_numpy(), head) for n, v in value.data_vars.items()}
    if isinstance(value, pd.DataFrame):
        columns = {old(n): digest(value[n].to_numpy(), head) for n in value.columns}
        named = value.index.inferred_type == "string"
        index = value.index.map(old) if named else value.index
        return {"index": digest(index.to_numpy(), head)} | columns
    if isinstance(value, xr.DataArray | pd.Series):
        return digest(value.to_numpy(), head)
    if isinstance(value, Told):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, dict):
        return {old(k): digest(v, head) for k, v in value.items()}
    if value is None or isinstance(value, str | bool | int | np.bool_ | np.integer):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float | np.floating):
        return number(value)
    if isinstance(value, list | tuple) and any(isinstance(v, dict | list | tuple) for v in value):
        return [digest(v, head) for v in value[:10]]
    return digest_array(np.asarray(value), head)


def digest_array(array, head):
    if array.dtype.kind in "OUSM":
        words = [str(x) for x in array.ravel()]
        return Told(shape=list(array.shape), hash=hashed(words), first=words[:3])
    if array.ndim == 0:
        return number(array)
    told = Told(shape=list(array.shape))
    if array.dtype.kind in "bui" and array.size:
        told["hash"] = hashed(array.astype(np.int64).ravel().tolist())
    flat = array.astype(float).ravel()
    if flat.size > head:
        finite = flat[np.isfinite(flat)]
        if finite.size:
            told.update(mean=number(finite.mean()), sd=number(finite.std()))
        if finite.size < flat.size:
            told["finite"] = int(finite.size)
        flat = flat[np.linspace(0, flat.size - 1, head).astype(int)]
    told["values"] = [number(x) for x in flat]
    return told


def hashed(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def old(name):
    return FROZEN_NAME.get(str(name), str(name))


class Cells(HTMLParser):
    """The text of all cells of tables, and of paragraphs, in order."""

    def __init__(self):
        super().__init__()
        self.cells, self.open = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in ("td", "th"):
            self.cells.append("")
            self.open += 1

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.open -= 1

    def handle_data(self, data):
        if self.open:
            self.cells[-1] += data


def told_cells(html):
    """Return the cells of a page's tables: how many, their hash and the first 60.

    The rows that tell versions and the machine are left out.
    """
    parser = Cells()
    parser.feed(html)
    cells = [re.sub(r"\s+", " ", cell).strip() for cell in parser.cells]
    cells = [cell for cell in cells if not re.search(r"\d+\.\d+\.\d+", cell)]
    return {"n": len(cells), "hash": hashed(cells), "first": " | ".join(cells[:60])}
