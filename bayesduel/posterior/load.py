"""A fit read from its file: data, checked before anything is made of it."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.inference.datatree import Fit, restored
from bayesduel.inference.fit import UncertifiedWarning
from bayesduel.models.registry import know
from bayesduel.posterior.draws import draws_of
from bayesduel.system.arguments import listed, path_of
from bayesduel.system.open_datatree import DAMAGED, open_datatree
from bayesduel.system.warnings import warn

__all__ = ["load"]


def load(path: Any, classes: Iterable[type] = ()) -> xr.DataTree:
    """Return a fit that `bayesduel fit`, or ``fit.to_netcdf``, left in a file.

    What a file says is data: it imports no module and calls nothing but the package's own models.

    Parameters
    ----------
    path
        A NetCDF file, or a Zarr folder.
    classes
        Models and terms of one's own that the fit may name. Those that were used in
        this process or registered (``bayesduel.models.register``) are known.

    Raises
    ------
    FileNotFoundError
        If there is none.
    TypeError
        If an argument is not as described.
    ValueError
        If it is no fit, is damaged, names a class that is not known, or has a chain that did not
        move.

    Warns
    -----
    UncertifiedWarning
        If the certificate of its draws does not hold.

    Examples
    --------
    >>> bd.fit(bd.datasets.load("tennis1990")).to_netcdf("fit.nc")
    >>> bd.load("fit.nc").duel.arms
    ('Graf', 'Navratilova', 'Sabatini', 'Sanchez', 'Seles')
    """
    path = path_of(path)
    for kind in listed(classes, "classes"):
        know(kind)
    if not path.exists():
        raise FileNotFoundError(f"path should be a fit, got {path}: no such file")
    rule = f"{path} is not a file that `bayesduel fit` saved"
    try:
        with open_datatree(path) as tree:
            fit = Fit.from_dict(tree.load().to_dict())
    except Exception as error:  # readers raise what they like on a broken file
        raise ValueError(f"{rule}: {error}") from error
    if "posterior" not in fit or "model" not in fit.attrs:
        raise ValueError(f"{rule}: no posterior of a model")
    try:
        draws, _, _ = draws_of(fit)
        _ = fit.duel.asked
        draws.chances(slice(0, 1), np.array([0]), np.array([1]))
        restored(fit, fit.duel.model)
    except DAMAGED as error:
        raise ValueError(f"{path} should be a fit of its model: {error}") from error
    for name, values in fit["posterior"].data_vars.items():
        spread = np.ptp(values.to_numpy(), axis=1)
        entries = tuple(range(1, values.ndim - 1))
        if not spread.any(axis=entries).all():
            raise ValueError(f"{path} should hold draws that differ, got equal ones of {name!r}")
    if short := fit.attrs.get("shortfall"):
        warn(f"{path}: the draws are not certified: {short}", UncertifiedWarning)
    return fit
