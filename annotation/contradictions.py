"""Answers of one review that contradict each other, by the guidelines' rule on verdicts.

The page hides the error tags of what is retained; it can compare no scores. Whatever reaches the server by another way,
or by a change of mind, is found here when the reviews come home, and goes back to its author.
"""

from __future__ import annotations

from annotation.corrections import corrections_of, list_changes
from annotation.schema import TITLES
from hopwright.records import Item, Review

LEAST_RETAINED = 3
"""What is retained has no score below this; the guidelines print it."""


def find_contradiction(review: Review, item: Item) -> str:
    """Why the verdict does not fit the review's other answers; empty when it does, or when the task was skipped."""
    tags = ", ".join(f"“{tag}”" for tag in review.errors)
    if review.verdict == "Retain":
        if tags:
            return f"the verdict is Retain, but {tags} is tagged: choose Fix or Discard, or remove the tag"
        low = [score for score in review.scores if score.value < LEAST_RETAINED]
        if low:
            said = ", ".join(f"{TITLES[score.criterion].lower()} {score.value}" for score in low)
            return (
                f"the verdict is Retain, but a score is below {LEAST_RETAINED} ({said}): "
                "choose Fix or Discard, or raise it"
            )
    if review.verdict == "Fix" and tags and not review.comment:
        hop = review.hop if review.settles == "single_hop" else None
        if (hop is None or 1 <= hop <= len(item.hops)) and not list_changes(item, hop, corrections_of(review)):
            return (
                f"the verdict is Fix and {tags} is tagged, but nothing is corrected: "
                "correct it, or say why in a comment"
            )
    return ""
