"""A whole study in a browser: an upload, twelve judges of a panel, the standings and the report.

Two criteria with grades, reasons and comments; contents in three scripts, formulas, pictures
training and gold questions. Judges come by an open link with PROLIFIC_PID. Screenshots of each page
on a phone, a tablet and a desktop, in light and dark, are written to a folder.

    python -m benchmarks.study_played --shots FOLDER
"""

import argparse
import csv
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from playwright.sync_api import sync_playwright

ARMS = ("plain", "warm", "exact", "long")
STRENGTH = {"plain": 0, "warm": 1, "exact": 2, "long": 3}
ITEMS = ("Explain black holes", "اشرح الثقوب السوداء", "解释黑洞")
TEXTS = {
    "Explain black holes": "A black hole bends light: $r_s = \\frac{2GM}{c^2}$.",
    "اشرح الثقوب السوداء": "الثقب الأسود منطقة في الفضاء لا يفلت منها شيء.",
    "解释黑洞": "黑洞是时空中引力极强的区域，任何东西都无法逃脱。",
}
DEVICES = {
    "phone": ({"width": 390, "height": 844}, "light"),
    "tablet": ({"width": 820, "height": 1180}, "dark"),
    "desktop": ({"width": 1280, "height": 860}, "light"),
}
CODE = "C0FFEE"
CHROMIUM = "/usr/bin/chromium"


def picture(width, height, grey):
    """Return a PNG of one grey."""

    def chunk(name, data):
        check = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + check

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes([grey]) * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def contents(folder):
    """Write what is uploaded: a table, and the pictures that it names."""
    folder.mkdir()
    rows = [("arm", "item", "content")]
    for item in ITEMS:
        rows.append(("", item, f"**{item}**"))
        for arm in ARMS:
            strength = STRENGTH[arm]
            text = f"{TEXTS[item]}\n\n" * (1 + strength) + f"![drawing]({arm}.png)"
            rows.append((arm, item, text + f"\n\n`quality {strength}`"))
    with (folder / "content.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    for arm in ARMS:
        (folder / f"{arm}.png").write_bytes(picture(640, 160, 60 + 50 * STRENGTH[arm]))
    gold = [("left", "right", "item", "outcome"), ("long", "plain", ITEMS[0], "left")]
    with (folder.parent / "gold.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(gold)
    training = [("left", "right", "item", "outcome", "text"),
                ("exact", "plain", ITEMS[1], "left", "The first one says more.")]  # fmt: skip
    with (folder.parent / "training.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(training)


def made(folder):
    """Make the study by the command line, and serve it; return the process and its link."""
    table = str(folder / "given" / "content.csv")
    run = [sys.executable, "-m", "bayesduel", "study"]
    options = ["--grades", "2", "--criterion", "helpful", "--criterion", "short", "--comment",
               "--reason", "clear", "--reason", "polite", "--gold", str(folder / "gold.csv"),
               "--training", str(folder / "training.csv"), "--gold-share", "0.2", "--quota", "6",
               "--budget", "200", "--goal", "full-ranking", "--rope", "0.01",
               "--model", "cumulative-logit"]  # fmt: skip
    path = str(folder / "s.study")
    given = ["--arms-file", table, "--items-file", table]
    subprocess.run([*run, "new", path, *given, *options], check=True, stdout=subprocess.DEVNULL)
    serve = [*run, "serve", path, "--uploads", str(folder / "uploads"), "--port", "8123",
             "--completion", CODE, "--screened-out", "Thank you.", "--language", "de",
             "--title", "Antworten vergleichen", "--seats", "20"]  # fmt: skip
    process = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    link = re.search(r"http://\S+", process.stdout.readline())[0]
    return process, link


def shoot(page, folder, name, seen):
    """Write the page as each device shows it, once a name; keep what is wider than the window."""
    if name in seen or folder is None:
        return
    seen[name] = []
    before = page.viewport_size
    for device, (size, scheme) in DEVICES.items():
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(250)
        page.screenshot(path=folder / f"{name}-{device}.png")
        seen[name].append(page.evaluate("document.documentElement.scrollWidth - innerWidth"))
    page.set_viewport_size(before)


def judge(page, name, rng, folder, seen):
    """Answer all that a judge is asked, by the keyboard; return the completion code."""
    if page.locator("#begin").is_visible():
        shoot(page, folder, "welcome", seen)
        page.click("#begin")
    for k in range(20):
        page.wait_for_selector("#pair:not([hidden]), #end:not([hidden]), #feedback:not([hidden])")
        if page.locator("#feedback").is_visible():
            shoot(page, folder, "feedback", seen)
            page.click("#go-on")
            page.wait_for_selector("#pair:not([hidden]), #end:not([hidden])")
        if page.locator("#end").is_visible():
            break
        ticket = page.evaluate("state.ticket.key")
        page.wait_for_function("() => ready")
        left, right = (
            int(re.search(r"quality (\d)", page.inner_text(f"#{side}"))[1])
            for side in ("left", "right")
        )
        noisy = left - right + rng.gauss(0, 6.0)
        helpful = 1 if noisy > 1.5 else 2 if noisy > 0.2 else 3 if noisy > -0.2 else 4
        helpful = 5 if noisy < -1.5 else helpful
        shoot(page, folder, "pair", seen)
        page.keyboard.press(str(helpful))
        page.keyboard.press(str(6 - helpful))  # what is longer is less short
        page.keyboard.press("q")
        if k == 0:
            page.keyboard.press("n")
            page.keyboard.type(f"Kommentar von {name} <script>alert(7)</script>")
            page.keyboard.press("Escape")
        shoot(page, folder, "answered", seen)
        page.keyboard.press("Enter")
        page.wait_for_function(
            """(key) => !document.getElementById("feedback").hidden || !state.ticket
                || state.ticket.key !== key""",
            arg=ticket,
        )
    shoot(page, folder, "end", seen)
    return page.inner_text("#code") if page.locator("#code").is_visible() else ""


def played(folder, shots, n_judges=12):
    """Play the study; return what is found."""
    contents(folder / "given")
    process, link = made(folder)
    faults, seen, codes, rng = [], {}, [], random.Random(1)
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

            def window():
                page = browser.new_context(viewport=DEVICES["desktop"][0]).new_page()
                page.on("pageerror", lambda error: faults.append(str(error)))
                page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
                return page

            root = window()
            root.goto(link)
            root.wait_for_selector("#folder")
            shoot(root, shots, "admin-empty", seen)
            root.set_input_files("#folder", folder / "given")
            root.wait_for_selector("text=5 of 5 files are uploaded.")
            root.click("text=Look at the upload")
            root.wait_for_selector("text=Nothing is missing.")
            shoot(root, shots, "upload", seen)
            root.click("text=Publish")
            root.fill("#judges", "panel")
            root.select_option("#role", "open")
            root.click("text=Make links")
            shoot(root, shots, "links", seen)
            open_link = root.inner_text("td.link code")
            place, _, token = open_link.partition("#")
            for k in range(n_judges):
                page = window()
                page.goto(f"{place}?PROLIFIC_PID=p{k}&STUDY_ID=s&SESSION_ID=t{k}#{token}")
                page.wait_for_selector("#begin:visible")
                codes.append(judge(page, f"p{k}", rng, shots, seen))
                page.context.close()
            root.goto("http://127.0.0.1:8123/standings")
            root.wait_for_selector("#ranking")
            shoot(root, shots, "standings", seen)
            root.goto("http://127.0.0.1:8123/admin")
            shoot(root, shots, "admin", seen)
            with root.expect_download(timeout=300_000) as report:  # a busy machine takes minutes
                root.click("text=Report (HTML)", no_wait_after=True)
            report.value.save_as(folder / "report.html")
            browser.close()
    finally:
        process.terminate()
        process.wait()
    import bayesduel as bd

    study = bd.Study(folder / "s.study")
    rows = study.rows()
    return {
        "judges": len(codes), "codes": codes.count(CODE), "answers": len(rows),
        "with both criteria": sum(len(row["criteria"]) == 1 for row in rows),
        "comments": sum(bool(row["comment"]) for row in rows),
        "gold": sum(judge["gold"] for judge in study.judges()),
        "verdict": str(study.status(check=False)), "faults": faults,
        "wider than the window": {n: w for n, w in seen.items() if max(w) > 0},
        "report": (folder / "report.html").stat().st_size,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shots", type=Path)
    given = parser.parse_args()
    if given.shots is not None:
        given.shots.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        for name, value in played(Path(folder), given.shots).items():
            print(f"{name}: {value}")


if __name__ == "__main__":
    main()
