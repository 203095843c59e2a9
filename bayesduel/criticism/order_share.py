"""What the side listed first wins, alone and between arms of equal score."""

from dataclasses import dataclass

from bayesduel.criticism import check_text
from bayesduel.criticism.transitivity.score_model import ScoreModel
from bayesduel.data.duels import Duels
from bayesduel.data.sides import sides_of
from bayesduel.intervals import wilson
from bayesduel.text import begun, plural

__all__ = ["CROSSED", "OrderShare", "order_share"]

# Share of pairs that met in both orders, from which a side advantage is plain: most pairs then say
# it by themselves, whoever is better.
CROSSED = 0.5


@dataclass(frozen=True, kw_only=True)
class OrderShare:
    """The share of wins of the side listed first."""

    # share of the decisive duels, and its 95 % interval
    share: float
    interval: tuple[float, float]
    # probability that it wins between arms of equal score, estimated together with the scores, and
    # its 95 % interval; None where the design does not identify it
    between_level: float | None
    between_interval: tuple[float, float] | None
    n_decisive: int  # number of decisive duels
    both_ways: float  # share of the pairs that met in both orders
    side: str  # what the side listed first is called in a sentence: "the home side"

    @property
    def clear(self) -> bool:
        """Whether the interval between arms of equal score excludes one half."""
        if self.between_interval is None:
            return False
        low, high = self.between_interval
        return not low <= 0.5 <= high

    @property
    def sentence(self) -> str:
        """The result in sentences."""
        return self.words()

    def words(self, *, modelled: bool = False, noun: str = "arm") -> str:
        """Return what was found, and how to model a side advantage.

        `modelled`: whether the ranking beside it adjusts for one; `noun`: what an arm is called.
        """
        low, high = (100 * x for x in self.interval)
        side = begun(self.side)
        won = (
            f"{side} won {100 * self.share:.1f} % of {self.n_decisive:,} decisive "
            f"duels (ties left out; 95 %: {low:.1f} to {high:.1f})."
        )
        if self.between_level is None or self.between_interval is None:
            return (
                f"{won} The design does not identify a side advantage, so the check of cycles "
                f"does not adjust for one. If {self.side} may have an advantage, "
                f"{check_text.MODELLED}."
            )
        low, high = (100 * x for x in self.between_interval)
        nouns = plural(noun)
        words = (
            f"{won} Between {nouns} of equal score it wins {100 * self.between_level:.1f} % "
            f"of decisive duels (ties left out; 95 %: {low:.1f} to {high:.1f})."
        )
        if not self.clear:
            return (
                f"{words} There is no clear side advantage; the check of cycles adjusts for "
                "what there is."
            )
        if self.both_ways >= CROSSED:
            adjusts = "the check of cycles adjusts for it"
            if modelled:
                return f"{words} This is a side advantage; {adjusts}, and so does the ranking."
            how = check_text.MODELLED
            return f"{words} This is a side advantage; {adjusts}. To adjust a ranking, {how}."
        met = check_text.both_orders_words(self.both_ways)
        remedy = f"If sides carry a meaning, {check_text.MODELLED}."
        if modelled:
            remedy = "The ranking adjusts for it."
        return (
            f"{words} The interval excludes 50 %, and the check of cycles adjusts for that. "
            f"{met}, so the estimate rests on how the results of three {nouns} fit "
            f"together: it may be a side advantage or another deviation from the scores. {remedy}"
        )


def order_share(duels: Duels, voted: ScoreModel | None) -> OrderShare | None:
    """Return what the side listed first won, None where sides carry no meaning.

    voted: scores by the votes, each of them counted.
    """
    if voted is None or voted.design.order == "not recorded":
        return None
    first = int(duels.cells.left_wins.sum())
    second = int(duels.cells.right_wins.sum())
    low, high = wilson(first, first + second)
    identified = voted.design.has_order
    return OrderShare(
        share=first / (first + second),
        interval=(float(low), float(high)),
        between_level=voted.first_wins if identified else None,
        between_interval=voted.first_wins_interval if identified else None,
        n_decisive=first + second,
        both_ways=voted.design.both_ways,
        side=sides_of(duels).left,
    )
