"""Counting what rests on claims, apart from everything that a graph proves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from hopwright.records import Item


class ClaimFigures(BaseModel):
    """How many items rest on claims, and on which. Empty for a set without any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    items: int = 0
    claims: dict[str, int] = Field(default_factory=dict)
    """Claim → items that rest on it, by id."""
    made_by: dict[str, str] = Field(default_factory=dict)
    """Claim → the model that made it, or `a person`."""
    domains: dict[str, int] = Field(default_factory=dict)
    """Domain of the hop that rests on a claim → items."""

    @property
    def authors(self) -> dict[str, int]:
        """Model, or `a person` → claims."""
        return dict(sorted(Counter(self.made_by.values()).items()))

    def describe(self) -> str:
        """In one line: `3 items rest on 2 claims that no graph holds (1 by openai/gpt-5-mini, 1 by a person)`."""
        if not self.items:
            return "no item rests on a claim"
        claims = len(self.claims)
        authors = ", ".join(f"{count:,} by {author}" for author, count in self.authors.items())
        one = self.items == 1
        return (
            f"{self.items:,} item{'' if one else 's'} rest{'s' if one else ''} on {claims:,} "
            f"claim{'' if claims == 1 else 's'} that no graph holds ({authors})"
        )


PERSON = "a person"


class ClaimTally:
    """Counts items one by one, and adds up what was counted of several sets."""

    def __init__(self) -> None:
        self._items = 0
        self._claims: Counter[str] = Counter()
        self._authors: dict[str, str] = {}
        self._domains: Counter[str] = Counter()

    def add(self, item: Item) -> None:
        """Count one item."""
        found = [(claim, str(hop.domain or "")) for hop in item.hops for claim in hop.evidence.claims]
        self._items += bool(found)
        self._claims.update({claim.id for claim, _ in found})
        self._domains.update({domain for _, domain in found})
        self._authors.update({claim.id: claim.model or PERSON for claim, _ in found})

    def include(self, figures: ClaimFigures) -> None:
        """Add the figures of a set; a claim that two sets rest on counts once."""
        self._items += figures.items
        self._claims.update(figures.claims)
        self._domains.update(figures.domains)
        self._authors.update(figures.made_by)

    def finish(self) -> ClaimFigures:
        """What was counted."""
        return ClaimFigures(
            items=self._items,
            claims=dict(sorted(self._claims.items())),
            made_by=dict(sorted(self._authors.items())),
            domains=dict(sorted(self._domains.items())),
        )


def join_figures(sets: Iterable[ClaimFigures]) -> ClaimFigures:
    """The figures of several sets together."""
    tally = ClaimTally()
    for one in sets:
        tally.include(one)
    return tally.finish()
