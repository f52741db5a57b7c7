"""Sentence frames of computations: several ways to ask the same, of which one is drawn for each item."""

from __future__ import annotations

PAIR_FRAMES = ("Take {pair}.", "Compare {pair}.", "Consider {pair}.", "Think of {pair}.")
"""How what is compared is set before the question; what follows says `the older of the two`."""

SET_FRAMES = (
    "{were}.", "{were}.", "{were}.", "Take {names}, {tie}.", "Consider {names}, {tie}.", "Compare {names}, {tie}.",
)  # fmt: skip
"""What is chosen from, in a sentence of its own; the question then says `the earliest of them`."""

LIST_FRAMES = ("Consider {names}.", "Take {names}.", "Compare {names}.", "Think of {names}.")

FIRST_TO_FRAMES = (
    "Of {names}, which was the {turn} to {to}?", "Which of {names} was the {turn} to {to}?",
    "Among {names}, which was the {turn} to {to}?", "Which was the {turn} of {names} to {to}?",
    "Out of {names}, which was the {turn} to {to}?", "Of {names}, which one was the {turn} to {to}?",
)  # fmt: skip

FIRST_BY_FRAMES = (
    "Of {those} {many} among {names}, {who} {chosen}?", "Among {names}, {who} {chosen} of {those} {many}?",
    "Of {names}, {who} {chosen} among {those} {many}?", "Out of {names}, {who} {chosen} of {those} {many}?",
)  # fmt: skip

FIRST_AFTER_FRAMES = (
    "Which of {names}, {tie}, was the {turn} to {to} {when}?",
    "Of {names}, {tie}, which was the {turn} to {to} {when}?",
    "Among {names}, {tie}, which was the {turn} to {to} {when}?",
    "Which was the {turn} of {names}, {tie}, to {to} {when}?",
    "Out of {names}, {tie}, which was the {turn} to {to} {when}?",
    "Considering {names}, {tie}, which was the {turn} to {to} {when}?",
)

FIRST_BY_AFTER_FRAMES = (
    "Of {names}, which is {best} that {one} and {event} {when}?",
    "Among {names}, which is {best} that {one} and {event} {when}?",
    "Which is {best} of {names} that {one} and {event} {when}?",
    "Out of {names}, which is {best} that {one} and {event} {when}?",
)

AGE_FRAMES = (
    "How old was {p} {when}?", "What age was {p} {when}?", "{When}, how old was {p}?",
    "How many years old was {p} {when}?",
)  # fmt: skip

AGE_IN_YEAR_FRAMES = (
    "How old did {p} turn in the year in which {happened}?",
    "What age did {p} reach in the year in which {happened}?",
    "In the year in which {happened}, how old did {p} turn?",
    "In the year that {happened}, what age did {p} reach?",
    "How old did {p} become in the year that {happened}?",
)

DISTANCE_FRAMES = (
    "How many years lie between {a} and {b}?", "How many years separate {a} from {b}?",
    "How many years passed between {a} and {b}?", "How many years went by between {a} and {b}?",
)  # fmt: skip
"""Calendar years: the difference of the two years."""

SPAN_FRAMES = (
    "How many years lie between the earliest and the latest of these: {all}?",
    "Of {all}, how many years separate the earliest from the latest?",
    "How many years passed between the first and the last of these: {all}?",
)

CLOSED_COUNT_FRAMES = ("How many {members} are there?", "What is the number of {members}?")

COUNT_FRAMES = (
    "How many of {names} {many}?", "Of {names}, how many {many}?", "Among {names}, how many {many}?",
    "Out of {names}, how many {many}?", "How many out of {names} {many}?", "What number of {names} {many}?",
)  # fmt: skip

PAIRS_FRAMES = (
    "How many different pairs can be formed from those of {names} that {many}?",
    "Of {names}, take those that {many}: how many different pairs can be formed from them?",
)
