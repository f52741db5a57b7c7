"""A story made of a few sentences: long enough for small windows, with titles, wives, short names and quotations."""

from __future__ import annotations

import random

PEOPLE = (
    "Mr. Alder", "Mrs. Alder", "Miss Quill", "Captain Rusk", "Dr. Penhallow", "Lady Tamsin", "Mr. Vane", "Sir Hugh",
    "Mrs. Orchard", "Colonel Stark", "Miss Fairleigh", "Mr. Brack", "Edmund", "Harriet", "Judith", "Simon",
    "Mr. Ledbetter", "Mrs. Cray", "Inspector Moll", "Aunt Flora",
)  # fmt: skip
PLACES = ("Brackwater", "Highmoor", "Pell Hall", "Norwich", "Dunmere", "Saltley", "Wren House", "Bristol")
_BETWEEN = (
    "{a} walked with {b} as far as the bridge, and they spoke of nothing but the weather and the price of hay.",
    "Early that morning {a} had written to {b} about the missing ledger, and nobody had yet brought an answer back.",
    "{a} did not trust {b}, though neither of them had ever said so aloud in front of the servants or the clerk.",
    "In the afternoon {a} and {b} sat by the window for an hour, waiting for the coach that never came that day.",
    "When the rain stopped at last, {a} went out to look for {b}, who had taken the long path through the orchard.",
)
_AT = (
    "They had been at {p} since the spring, and meant to stay in {p} until the harvest was in.",
    "All of this was known in {p} before the evening, for nothing stays hidden for long at {p}.",
    "Somebody had come from {p} with the news, and was to go back to {p} before it was dark.",
)
_SAID = (
    "“{words},” said {a}, and for a while nobody in the room could think of anything to say to that at all.",
    "{a} said, “{words}.” The fire had burned low by then, and the clock upon the stairs had stopped at nine.",
)
_TOLD = (
    "“I have seen nothing of {b} since the {words} were sold at the fair,” said {a}, and went on with the long letter"
    " that lay upon the table between the lamp and the empty tea cups.",
    "{a} said, “They tell me that {b} has gone to {p} for the winter with a {words}.” The fire had burned low by then,"
    " and the clock upon the stairs had stopped at nine.",
    "“Nobody at {p} would believe it of {b},” replied {a}, “though every {words} in the parish has been counted twice"
    " over since the harvest, and nothing is said of anything else from morning to night.”",
)
"""Paragraphs in which one speaks, and names somebody."""
_FILL = (
    "The road was white with dust and the hedges were loud with birds.",
    "A dog barked twice somewhere behind the barn, and then was quiet again for the rest of the night.",
    "There was little light left in the passage, and the lamp had not been filled for a week or more.",
)
_WORDS = tuple("kettle lantern saddle ribbon ladder candle basket mirror hammer barrel button bottle anchor".split())


def tell_story(seed: int = 7, chapters: int = 12, paragraphs: int = 22, title: str = "The Ledger") -> str:
    """The whole text, with chapter headings."""
    rng = random.Random(f"story:{seed}")
    parts = [title]
    for number in range(1, chapters + 1):
        parts.append(f"CHAPTER {_roman(number)}")
        parts += [_tell_paragraph(rng) for _ in range(paragraphs)]
    parts.append("THE END")
    return "\n\n".join(parts) + "\n"


def _tell_paragraph(rng: random.Random) -> str:
    cast = rng.sample(PEOPLE, 4)
    if rng.random() < 0.3:
        words = " and ".join(rng.sample(_WORDS, 2))
        return rng.choice(_TOLD).format(a=cast[0], b=cast[1], p=rng.choice(PLACES), words=words)
    sentences = [rng.choice(_BETWEEN).format(a=cast[0], b=cast[1])]
    if rng.random() < 0.6:
        sentences.append(rng.choice(_FILL))
    if rng.random() < 0.45:
        sentences.append(rng.choice(_BETWEEN).format(a=cast[2], b=cast[rng.randrange(2)]))
    if rng.random() < 0.4:
        sentences.append(rng.choice(_AT).format(p=rng.choice(PLACES)))
    if rng.random() < 0.4:
        things = " or the ".join(rng.sample(_WORDS, 3))
        words = f"I never saw the {things} in that cupboard"
        sentences.append(rng.choice(_SAID).format(words=words, a=cast[3]))
    return " ".join(sentences)


def _roman(number: int) -> str:
    tens, ones = divmod(number, 10)
    return "X" * tens + ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")[ones]
