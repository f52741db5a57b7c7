"""Sentence frames of questions about pictures, of which each item draws one of several.

A frame is filled from the outside in: what is asked (`ASK`) of a country that is said to be the neighbour with the most
inhabitants (`BEST`), of the country in the picture (`SHOWN`). Where the picture is told of in a sentence before
(`TOLD`), a pronoun takes its place (`BEST_TOLD`).
"""

from __future__ import annotations

from collections.abc import Mapping

SHOWN: Mapping[str, tuple[str, ...]] = {
    "flag": (
        "the country whose flag is shown", "the country with this flag", "the country that flies this flag",
        "the country to which this flag belongs", "the country whose flag you see",
    ),
    "outline": (
        "the country whose outline is shown", "the country with this outline", "the country of this shape",
        "the country drawn in outline here", "the country whose outline you see",
    ),
}  # fmt: skip
"""What a picture shows, within a sentence."""

TOLD: Mapping[str, tuple[str, ...]] = {
    "flag": (
        "This is the flag of a country.", "The image shows the flag of a country.", "This flag belongs to a country.",
        "You see the flag of a country.", "A country flies this flag.", "Here is a country's flag.",
    ),
    "outline": (
        "This is the outline of a country.", "The image shows the outline of a country.",
        "This outline is that of a country.", "You see the outline of a country.", "A country has this shape.",
        "Here is a country in outline.",
    ),
}  # fmt: skip
"""What a picture shows, in a sentence before the question; what follows says `it`."""

BEST = (
    "the {best} country{by} that shares a land border with {x}", "the {best} land neighbour{by} of {x}",
    "the {best}{by} of the land neighbours of {x}", "the {best}{by} of the countries that share a land border with {x}",
    "the {best}{by} of all the countries that have a land border with {x}",
)  # fmt: skip
BEST_TOLD = (
    "its {best} land neighbour{by}", "the {best} country{by} that borders it by land",
    "the {best}{by} of its land neighbours", "the {best}{by} of the countries that share a land border with it",
    "the {best}{by} among its land neighbours", "the {best}{by} of all the countries that border it by land",
)  # fmt: skip
"""The neighbour that has the most or the least of something."""

CHOSEN: Mapping[tuple[str, bool], str] = {
    ("population", True): "most populous",
    ("population", False): "least populous",
    ("area", True): "largest",
    ("area", False): "smallest",
}
"""What is compared, by its label, and whether the most is meant: how the first of several is called."""
BY: Mapping[str, str] = {"area": " by area"}
"""What is compared is said outright where the adjective leaves it open."""

WITH: Mapping[tuple[str, bool], tuple[str, str]] = {
    ("population", True): ("with the larger population", "with the largest population"),
    ("population", False): ("with the smaller population", "with the smallest population"),
    ("area", True): ("with the larger area", "with the largest area"),
    ("area", False): ("with the smaller area", "with the smallest area"),
    ("coastline", True): ("with the longer coastline", "with the longest coastline"),
    ("coastline", False): ("with the shorter coastline", "with the shortest coastline"),
    ("inception", True): ("that became independent later", "that became independent last"),
    ("inception", False): ("that became independent earlier", "that became independent first"),
}
"""Which of two, or of three, is meant."""

ASK: Mapping[str, tuple[str, ...]] = {
    "capital": (
        "What is the capital of {n}?", "Which city is the capital of {n}?", "Which city serves as the capital of {n}?",
        "What is the name of the capital of {n}?", "Take {n}. What is its capital?",
        "Take {n}. Which city is its capital?", "Think of {n}. What is its capital called?",
        "What is the capital city of {n}?",
    ),
    "area": (
        "How many square kilometres does {n} cover?", "How large, in square kilometres, is {n}?",
        "In square kilometres, how large is {n}?", "What is the area, in square kilometres, of {n}?",
        "What is the area of {n} in square kilometres?", "Take {n}. How many square kilometres does it cover?",
        "Think of {n}. What is its area in square kilometres?", "How big, in square kilometres, is {n}?",
    ),
    "year": (
        "In what year did {n} become independent?", "In which year did {n} gain its independence?",
        "What is the year of independence of {n}?", "Since what year has {n} been independent?",
        "Take {n}. In what year did it become independent?", "Think of {n}. Since what year has it been independent?",
        "In which year did {n} become an independent country?", "In what year did {n} win its independence?",
    ),
    "neighbours": (
        "How many countries have a land border with {n}?", "How many countries share a land border with {n}?",
        "With how many countries does {n} share a land border?", "How many countries does {n} border by land?",
        "Take {n}. How many countries does that country border by land?",
        "Think of {n}. How many countries share a land border with that country?",
        "On land, how many countries border {n}?", "How many land neighbours does {n} have?",
    ),
    "best": (
        "Which of the countries that share a land border with {n} {did}?",
        "Of all the countries that have a land border with {n}, which {did}?",
        "Which country with a land border to {n} {did}?", "Which of the land neighbours of {n} {did}?",
        "Among the countries that share a land border with {n}, which {did}?",
        "Take {n}. Which of its land neighbours {did}?",
        "Think of {n}. Of the countries that border it by land, which {did}?",
        "Of the land neighbours of {n}, which one {did}?",
    ),
    "holder": (
        "Who was {office} in the year in which {n} became independent?",
        "Who was {office} in the year when {n} gained its independence?",
        "Which {office} was in office in the year in which {n} became independent?",
        "In the year when {n} became independent, who was {office}?",
        "Take {n}. Who was {office} in the year in which it became independent?",
        "Think of {n}. Which {office} was in office in the year of its independence?",
        "Who held the office of {office} in the year in which {n} became independent?",
        "Who was in office as {office} in the year in which {n} became independent?",
    ),
}
"""What is asked about a country, `{n}`, by what answers it."""

HOLDER_TOLD = (
    "Take the {office} of the year in which {n} became independent.",
    "Think of the {office} who was in office in the year when {n} became independent.",
    "Look up who was {office} in the year in which {n} gained its independence.",
    "Look up the {office} of the year in which {n} became independent.",
    "Consider the {office} of the year when {n} became independent.",
    "Recall who was {office} in the year in which {n} became independent.",
)
"""The holder of an office, in a sentence before the question; what follows says `he`, `she` or `that {noun}`."""

ASK_HOLDER: Mapping[str, tuple[str, ...]] = {
    "birth": ("On what date was {he} born?", "When was {he} born, to the day?", "What is {his} date of birth?"),
    "death": ("On what date did {he} die?", "When did {he} die, to the day?", "What is {his} date of death?"),
    "birthplace": ("Where was {he} born?", "In which town or city was {he} born?", "What is {his} place of birth?"),
    "deathplace": ("Where did {he} die?", "In which town or city did {he} die?", "What is {his} place of death?"),
    "age": ("How old was {he} at death?", "At what age did {he} die?", "How old did {he} live to be?"),
}

WHICH = (
    "Which of the {number} countries shown {did}?", "Of these {number} countries, which {did}?",
    "Which of these {number} countries {did}?", "The images show {number} countries. Which of them {did}?",
    "Compare the {number} countries shown. Which one {did}?", "Of the {number} countries in the images, which {did}?",
    "You see {number} countries. Which of them {did}?", "Look at the {number} countries shown. Which one {did}?",
    "Here are {number} countries: which of them {did}?",
)  # fmt: skip
"""Which of what the pictures show is meant, as the whole question."""

WINNER_TOLD = (
    ("The images show {number} countries.", "the one {that}"), ("You see {number} countries.", "the one {that}"),
    ("Here are {number} countries.", "the one of them {that}"),
    ("Compare the {number} countries shown.", "the one {that}"),
    ("{Number} countries are shown.", "the one of them {that}"),
    ("Look at the {number} countries shown.", "the one {that}"),
    ("Each of the {number} images shows a country.", "the one {that}"),
    ("These are {number} countries.", "the one of them {that}"),
)  # fmt: skip
"""The country that wins a comparison: in a sentence before the question, and in it."""

COMMON = (
    "Which country shares a land border with both {a} and {b}?",
    "Which country shares a land border with each of the two countries shown?",
    "The images show two countries. Which country borders both of them by land?",
    "The two countries shown have one land neighbour in common. Which country is it?",
    "Which country is a land neighbour of both countries shown?",
    "Only one country borders both of these two by land. Which one?",
    "You see two countries. Which is the only country that borders both by land?",
    "Which is the only country to share a land border with both {a} and {b}?",
    "What single country do both of these two border by land?",
)  # fmt: skip
COMMON_TOLD = (
    ("The two countries shown have one land neighbour in common.", "that neighbour"),
    ("The images show two countries that have one land neighbour in common.", "that neighbour"),
    ("Only one country borders both of these two by land.", "that country"),
    ("Both of these countries share a land border with the same third one.", "that third country"),
    ("Between them, these two countries have one land neighbour in common.", "that neighbour"),
    ("You see two countries with one land neighbour in common.", "that neighbour"),
    ("There is one country that has a land border with both of those shown.", "that country"),
    ("Find the one country that borders both of these two by land.", "it"),
)  # fmt: skip
"""The only country that borders both: in a sentence before the question, and in it. All borders are meant by land: two
that face each other across a sea are no neighbours."""

DIFFERENCE: Mapping[str, tuple[str, ...]] = {
    "area": (
        "By how many square kilometres do the areas of the two countries shown differ?",
        "How many square kilometres larger is the larger of these two countries than the smaller?",
        "The images show two countries. By how many square kilometres is one of them larger than the other?",
        "What is the difference in area, in square kilometres, between these two countries?",
        "In square kilometres, what is the difference between the areas of the two countries shown?",
        "Compare the areas of the two countries: by how many square kilometres do they differ?",
        "You see two countries. How many square kilometres does the larger cover beyond the area of the smaller?",
        "Of these two countries, one is larger than the other: by how many square kilometres?",
    ),
}
RATIO: Mapping[str, tuple[str, ...]] = {
    "area": (
        "To one decimal place, how many times as large in area is {a} as {b}?",
        "How many times the area of {b} does {a} cover, to one decimal place?",
        "By area, how many times would {b} fit into {a}, to one decimal place?",
        "The images show two countries. To one decimal place, how many times the area of the second has the first?",
        "By what factor is the area of {a} larger than that of {b}, to one decimal place?",
        "Divide the area of {a} by that of {b}. What is the result, to one decimal place?",
        "What is the ratio of the area of {a} to that of {b}, to one decimal place?",
        "To one decimal place, how many times the area of the second country does the first one cover?",
    ),
}
YEARS_BETWEEN = (
    "How many years lie between the independence of {a} and that of {b}?",
    "How many years separate the independence of {a} from that of {b}?",
    "The images show two countries. How many years lie between the independence of one and that of the other?",
    "How many years apart did these two countries become independent?",
    "Of the two countries shown, one became independent before the other: by how many years?",
    "You see two countries. By how many years do their years of independence differ?",
    "How many years earlier than the other did one of these two countries become independent?",
    "Compare when the two countries shown became independent. How many years lie between?",
)
MORE_NEIGHBOURS = (
    "How many more countries share a land border with {a} than with {b}?",
    "On land, how many more countries border {a} than {b}?",
    "The images show two countries. How many more land neighbours has the first than the second?",
    "How many more land neighbours does {a} have than {b}?",
    "Count the countries that border each of the two shown by land: how many more are there for the first?",
    "You see two countries. The first has more neighbours on land than the second: how many more?",
    "Compare how many countries each of the two borders by land: how many more does {a} border?",
    "Of these two countries, the first borders more countries by land than the second. How many more?",
)
AMONG_TWO = ("the country in the {} image", "the {} country")
"""One of two countries by its place."""
