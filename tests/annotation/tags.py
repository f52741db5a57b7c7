"""The tags of the review pages, as they are to stand there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from annotation.schema import ReviewTaskKind

ERRORS: Mapping[ReviewTaskKind, tuple[str, ...]] = MappingProxyType(
    {
        ReviewTaskKind.SINGLE_HOP: (
            "Wrong answer",
            "Outdated fact",
            "Wrong computation",
            "Second answer possible",
            "Answer leaks",
            "Bad distractor",
            "True distractor",
            "Ambiguous wording",
            "Bad grammar",
            "Missing evidence",
        ),
        ReviewTaskKind.MULTI_HOP: (
            "Wrong answer",
            "Broken chain",
            "Wrong computation",
            "Second answer possible",
            "Hop can be skipped",
            "Answer leaks",
            "Bad distractor",
            "True distractor",
            "Ambiguous wording",
            "Bad grammar",
        ),
        ReviewTaskKind.TWIN: (
            "Bad grammar",
            "Real name left",
            "Known fact",
            "World contradicts itself",
            "Not in the passages",
            "Wrong answer",
            "Wrong computation",
            "Answer leaks",
            "True distractor",
        ),
    }
)
"""What a task of that kind can be tagged with. An adjudication has no tags: the reviewers' stand beside it."""

PICTURE_ERRORS = (
    "Picture unreadable", "Name in the picture", "Several could be shown", "Wrong answer", "Broken chain",
    "Wrong computation", "Second answer possible", "Hop can be skipped", "Answer leaks", "Bad distractor",
    "True distractor", "Ambiguous wording", "Bad grammar",
)  # fmt: skip
"""The same of a question about pictures."""
