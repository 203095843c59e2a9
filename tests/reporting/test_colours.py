"""Colours of pages: contrast AA, light and dark, computed from the style sheet."""

import re

import pytest

from bayesduel.reporting.html import assets

TEXT, SURFACES = ("ink", "soft", "accent", "alarm"), ("paper", "wash", "alert")
SCHEMES = re.findall(r":root \{(.*?)\}", assets()["style.css"], flags=re.S)


def luminance(colour):
    """Return the relative luminance of "#rgb" or "#rrggbb" (WCAG 2.2)."""
    digits = colour.lstrip("#")
    digits = "".join(2 * d for d in digits) if len(digits) == 3 else digits
    shares = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(weight * s for weight, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_the_ratio_is_that_of_the_standard():
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark"])
@pytest.mark.parametrize("text", TEXT)
@pytest.mark.parametrize("surface", SURFACES)
def test_text_has_the_contrast_of_aa(scheme, text, surface):
    colours = dict(re.findall(r"--(\w+): (#\w+)", scheme))
    assert contrast(colours[text], colours[surface]) >= 4.5


def test_every_colour_of_the_page_is_one_of_these():
    """Nothing but the schemes names a colour, except for the paper behind figures in the dark."""
    style = re.sub(r":root \{.*?\}", "", assets()["style.css"], flags=re.S)
    assert set(re.findall(r"#[0-9a-f]{3,8}\b", style)) == {"#fff"}
    assert len(SCHEMES) == 2
