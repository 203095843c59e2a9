"""What Chromium makes of a page, where Chromium is installed."""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
           "--virtual-time-budget=5000")  # fmt: skip
# Scripts of the pages may take a second: the clock is a virtual one, and nobody waits for it.
COLLECTED = """
onload = () => setTimeout(() => {
  const elements = [...document.querySelectorAll("iframe")].map(
    (one) => one.contentDocument.documentElement.outerHTML
  );
  document.body.textContent = JSON.stringify(elements);
}, 2000);
"""


def seen(path: Path, own: Path, script: str = "", *options: str) -> str:
    """Return the elements of the page at `path` after `script` has run in it.

    `own` is a folder for the profile. With a script, a copy of the page beside it is opened.
    """
    if script:
        text = path.read_text(encoding="utf-8")
        path = path.with_name(f"{path.stem}-run.html")
        path.write_text(text.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    profile = f"--user-data-dir={own / 'profile'}"
    call = (CHROMIUM, *OPTIONS, profile, "--window-size=1200,900", *options, "--dump-dom")
    done = subprocess.run(
        (*call, path.as_uri()), capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def seen_at_once(scripts: Mapping[Path, str], own: Path) -> dict[Path, str]:
    """Return the elements of each page after its script has run in it, in one start of Chromium.

    Each page is a frame of its own, 1,200 pixels wide, of a page in `own`, which holds them all.
    """
    frames = []
    for path, script in scripts.items():
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
        frames.append(f'<iframe src="{path.as_uri()}" width="1200" height="900"></iframe>')
    page = own / "frames.html"
    page.write_text(f"<body>{''.join(frames)}<script>{COLLECTED}</script></body>", "utf-8")
    (elements,) = re.findall(r"<body>(.*)</body>", seen(page, own), flags=re.S)
    return dict(zip(scripts, json.loads(html.unescape(elements)), strict=True))


def title_of(dom: str) -> str:
    """Return the title of the window."""
    found = re.search(r"<title>(.*?)</title>", dom, flags=re.S)
    assert found is not None
    return html.unescape(found[1])
