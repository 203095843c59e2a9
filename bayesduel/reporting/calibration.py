"""Report section: held-out calibration."""

from functools import partial
from typing import TYPE_CHECKING

from bayesduel.reporting.section import Figure, Section, blocks

if TYPE_CHECKING:
    from bayesduel.criticism.calibration import Calibration

__all__ = ["calibration_section"]


def calibration_section(calibration: "Calibration | None", words: str) -> Section:
    """Return the section on predictions of held-out duels, or the reason why it is missing."""
    figure = None
    if calibration is not None:
        from bayesduel.plots.calibration import CALIBRATION_SIZE, plot_calibration

        unit = calibration.unit
        together = f" All votes of one {unit} were held out together." if unit != "duel" else ""
        independent = "duels taken as independent"
        if unit != "duel":
            independent = f"votes of one {unit} not taken as independent"
        figure = Figure(
            plot=partial(plot_calibration, calibration),
            size=CALIBRATION_SIZE,
            alt="Reliability curve",
            caption="Dot: a bin of held-out duels, from the favourite's side; bar: 95 % interval, "
            f"{independent}. Dashed line: observed shares equal to predictions.{together}",
        )
    return Section(id="calibration", title="Held-out calibration", body=blocks(words, figure))
