"""What a reader is told of a claim."""

from __future__ import annotations

from hopwright.records import Claim


def write_value(claim: Claim) -> str:
    """The number with its unit."""
    return f"{claim.value} {claim.unit}".rstrip()


def write_note(claim: Claim) -> str:
    """What an expert has to look up, where, and who says so: the text of `Hop.verify`."""
    author = f"the model {claim.model}" if claim.author == "model" else "a person"
    return (
        f"A claim that the graph does not hold: look it up. {claim.statement} ({claim.phrase}: {write_value(claim)}) "
        f"Stated by {author}; source: {claim.source_title}, {claim.source_url}"
    )
