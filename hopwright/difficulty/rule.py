"""The drop rule, and when an item's fate is sealed.

Omanic (section 3): four models answer, and what two or more of them get right is dropped. A voter that gave no vote
leaves a seat open; an open seat is neither a right nor a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.errors import InputError

ItemFate = Literal["open", "dropped", "kept", "held"]
"""`held`: too few voters answered to say; the item is held back."""


@dataclass(frozen=True, slots=True)
class DropRule:
    """`seats` voters sit; more than `max_right` right votes drop an item; `required` votes let it be kept.

    Raises InputError when the numbers make no sense together.
    """

    seats: int
    max_right: int = 1
    required: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.max_right < self.seats:
            raise InputError(
                f"max_right must lie between 0 and {self.seats - 1} for {self.seats} voters, not {self.max_right}"
            )
        if not 0 <= self.required <= self.seats:
            raise InputError(
                f"at most {self.seats} votes can be required of {self.seats} voters, not {self.required} (0: all)"
            )

    @property
    def needed(self) -> int:
        """Votes without which an item is not kept."""
        return self.required or self.seats

    def seal(self, right: int, wrong: int) -> ItemFate:
        """The fate that no further vote can change, or `open`."""
        if right > self.max_right:
            return "dropped"
        # Even if every other seat were right, too few would be.
        return "kept" if self.seats - wrong <= self.max_right else "open"

    def conclude(self, right: int, wrong: int) -> ItemFate:
        """The fate after everybody was asked who could be."""
        fate = self.seal(right, wrong)
        if fate != "open":
            return fate
        return "kept" if right + wrong >= self.needed else "held"

    def count_calls(self, votes: Sequence[bool | None]) -> int:
        """How many of the votes, asked in this order (None: no answer), it takes until the fate is sealed."""
        right = wrong = 0
        for asked, vote in enumerate(votes):
            if self.seal(right, wrong) != "open":
                return asked
            right += vote is True
            wrong += vote is False
        return len(votes)

    def count_least(self, right: int, wrong: int) -> int:
        """The fewest votes that prove this outcome: no order of asking, however clever, gets by with fewer."""
        if right > self.max_right:
            return self.max_right + 1
        needed = self.seats - self.max_right
        return needed if wrong >= needed else self.seats
