
import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.text.matching import mend_quotes
from hopwright.text.phrases import listed, pluralise, pluralise_verb, superlative

TABLE = default_table()


@pytest.mark.parametrize(
    ("noun", "many"),
    [
        ("film", "films"), ("city", "cities"), ("person", "people"), ("television series", "television series"),
        ("church", "churches"), ("member of parliament", "members of parliament"), ("sportswoman", "sportswomen"),
        ("volcano", "volcanoes"), ("spacecraft", "spacecraft"), ("first wife", "first wives"),
    ],
)  # fmt: skip
def test_plurals(noun: str, many: str) -> None:
    assert pluralise(noun) == many


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("was directed by X", "were directed by X"), ("lies in X", "lie in X"), ("belongs to X", "belong to X"),
        ("is or was a citizen of X", "are or were citizens of X"), ("died in X", "died in X"),
        ("has X as its highest point", "have X as their highest point"), ("crosses X", "cross X"),
    ],
)  # fmt: skip
def test_predicates_of_many(one: str, many: str) -> None:
    assert pluralise_verb(one) == many


def test_every_comparative_of_the_table_has_a_plural_and_a_superlative() -> None:
    for property, entry in TABLE.literal.items():
        for phrase in (*entry.more, *entry.less):
            assert not pluralise_verb(phrase).startswith(("has ", "is ", "was ")), (property, phrase)
            assert superlative(phrase) != phrase, (property, phrase)


@pytest.mark.parametrize(
    ("phrase", "most"),
    [
        ("covers the larger area", "covers the largest area"), ("was founded later", "was founded last"),
        ("was born earlier", "was born first"), ("has more inhabitants", "has the most inhabitants"),
        ("is larger in area", "is the largest in area"), ("lies further north", "lies furthest north"),
        ("ranks higher on the Human Development Index", "ranks highest on the Human Development Index"),
    ],
)  # fmt: skip
def test_superlatives(phrase: str, most: str) -> None:
    assert superlative(phrase) == most


def test_lists() -> None:
    assert listed(["A"]) == "A" and listed(["A", "B", "C"]) == "A, B and C"


@pytest.mark.parametrize(
    ("name", "mended"),
    [
        ('"Ike', "Ike"), ('President Ford"', "President Ford"), ('"Weird Al" Yankovic', '"Weird Al" Yankovic'),
        ('Dwight David ""Ike"" Eisenhower"', 'Dwight David "Ike" Eisenhower'), ('"Barcelona ""B""', 'Barcelona "B"'),
        ('a single of 7"', 'a single of 7"'), ("", ""), ('"', ""),
    ],
)  # fmt: skip
def test_what_is_left_of_quotes_is_no_part_of_a_name(name: str, mended: str) -> None:
    assert mend_quotes(name) == mended
