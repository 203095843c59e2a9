"""How often something is done where each time costs more, the larger a log is."""

from typing import NamedTuple

__all__ = ["CostLimit"]


class CostLimit(NamedTuple):
    """As often as the cost allows, within two limits."""

    total: int  # times x size, about
    least: int  # times, whatever the size: fewer say too little
    most: int  # times, of small logs: more say no more

    def times(self, size: int) -> int:
        """Return how often it is done where each time costs `size`."""
        return min(max(self.total // max(size, 1), self.least), self.most)
