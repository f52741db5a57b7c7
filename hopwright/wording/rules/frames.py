"""Sentence frames of computations: several ways to ask the same, of which one is drawn for each item."""

from __future__ import annotations

PAIR_FRAMES = ("Take {pair}.", "Compare {pair}.", "Consider {pair}.", "Think of {pair}.")
"""How what is compared is set before the question; what follows says `the older of the two`."""

WHICH_FRAMES = ("Of {pair}, {who} {did}, and", "Which of {pair} {did}, and", "Between {pair}, {who} {did}, and")
"""Which of what is compared is meant, where no adjective says it; what follows asks about `that person`."""

TOLD_FRAMES = ("Take {told}.", "Consider {told}.", "Think of {told}.")
"""How what a question is about is told before it, where it takes many words; the question then says `that person`."""

SET_FRAMES = (
    "{were}.", "{were}.", "{were}.", "Take {names}, {tie}.", "Consider {names}, {tie}.", "Look at {names}, {tie}.",
)  # fmt: skip
"""What is chosen from, in a sentence of its own; the question then says `the earliest of them`."""

LIST_FRAMES = ("Consider {names}.", "Take {names}.", "Look at {names}.")

THEN_FRAMES = ("Of those {who} {many}, {which} {chosen}, and", "Which of those {who} {many} {chosen}, and")
"""The same of those of a list that pass a test; what stands before it names the list."""

THEN_FIRST_TO_FRAMES = ("Which of them was the {turn} to {to}, and", "Which was the {turn} of them to {to}, and")

FIRST_TO_FRAMES = (
    "Of {names}, which was the {turn} to {to}?", "Which of {names} was the {turn} to {to}?",
    "Among {names}, which was the {turn} to {to}?", "Which was the {turn} of {names} to {to}?",
    "Out of {names}, which was the {turn} to {to}?", "Of {names}, which one was the {turn} to {to}?",
)  # fmt: skip

FIRST_BY_FRAMES = (
    "Of {those} {many} among {names}, {who} {chosen}?", "Among {names}, {who} of {those} {many} {chosen}?",
    "Of {names}, {who} {chosen} among {those} {many}?", "Which of {names} {chosen} among {those} {many}?",
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
    "Of {names}, {which} was the {turn} of {those} {many} to {to} {when}?",
    "Among {names}, {which} was the {turn} of {those} {many} to {to} {when}?",
    "Of {those} {many} among {names}, {which} was the {turn} to {to} {when}?",
    "Out of {names}, {which} was the {turn} of {those} {many} to {to} {when}?",
)

TURNED_FRAMES = ("In what year did {p} turn {age}?", "In which year did {p} reach the age of {age}?")

LIFE_FRAMES = (
    "At what age did {p} die?",
    "How old did {p} live to be?",
)
"""How old somebody became."""
LIFE_OF_FRAMES = ("What was the age at death of {p}?",)
"""The same of somebody whose description ends with a verb."""
AGE_FRAMES = ("How old was {p} {when}?",)
WHEN_AGE_FRAME = "{When}, how old was {p}?"

AGE_IN_YEAR_FRAMES = (
    "How old did {p} turn in the year {happened}?",
    "In the year {happened}, how old did {p} turn?",
)

DISTANCE_FRAMES = (
    "How many years lie between {a} and {b}?", "How many years separate {a} from {b}?",
    "What is the difference in years between {a} and {b}?",
)  # fmt: skip
"""Of two events in whatever order, in calendar years: the difference of the two years."""

DIED_AFTER_FRAMES = ("How many years after {a} did {died}?",)
"""Of two deaths."""

LATER_FRAMES = (
    "How many years after {a} came {b}?",
)  # fmt: skip
"""Of two events of which the first is the earlier."""

COUNT_FRAMES = (
    "How many of {names} {many}?",
    "Of {names}, how many {many}?",
    "Among {names}, how many {many}?",
    "Out of {names}, how many {many}?",
    "How many among {names} {many}?",
)

FIRST_OF_LIST_FRAMES = ("{what} was the {turn} {member} {to}?", "Which {member} was the {turn} {to}?")
"""Of a whole list, what comes next to a moment: `the first opera by X to be premiered after Y died`."""

AFTER_DEATH_FRAMES = (
    "What was the {turn} {noun} {did} {when}?",
    "Which {noun} by {owner} was the {turn} to {to} {when}?",
    "Of the {nouns} by {owner}, which was the {turn} to {to} {when}?",
)
"""The same where somebody's death is the moment: `the first opera by X to be premiered after the death of Y`."""

AFTER_DEATH_PHRASES = ("the {turn} {noun} {did} {when}",)
"""The same within a question."""

WORKED_FRAMES = (
    "On which {noun} did {{s}} {turn} work with {{o}}?", "What was the {turn} {noun} on which {{s}} worked with {{o}}?",
)  # fmt: skip
"""The same, of two who worked with each other."""

NEXT_FRAMES = ("Which {noun} did {owner} {make} {side} {beside}?",)
"""What comes next in a list of works after, or before, what two made together."""

NEXT_PHRASES = ("the {noun} that {owner} {made} {side} {beside}",)
"""The same within a question."""

JOINT_FRAMES = ("{what} was the {turn} {member}?", "Which was the {turn} {member}?")
"""Of a whole list, what two people made together: `the first film that X made with Y`; the second of events alone."""

AFTER_FIRST_OF_LIST_FRAMES = (
    "{When}, {what} was the {turn} {member} to {to}?", "{When}, which {member} was the {turn} to {to}?",
)  # fmt: skip
"""The same with the moment in front, where both speak of one thing: `After the librettist of X died, …`."""

COUNT_PART_FRAMES = ("How many {members} {happened} {when}?",)

PAIRS_FRAMES = (
    "How many different pairs can be formed from those among {names} {who} {many}?",
    "Of {names}, take those {who} {many}: how many different pairs can be formed from them?",
)
