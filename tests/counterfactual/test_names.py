import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.counterfactual.surrogate_names import SurrogateNameGenerator, read_dated_name
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.store import GraphStore

KINDS = ["person", "country", "place", "nature", "work", "team", "competition", "event", "organization", "award",
         "transport", "fiction", "other"]  # fmt: skip


def know_nothing(_: str) -> bool:
    return False


@given(st.integers(0, 10**9), st.text(min_size=1, max_size=12), st.sampled_from(KINDS), st.booleans())
def test_same_key_same_name_and_other_key_other_name(seed: int, key: str, kind: str, article: bool) -> None:
    namer = SurrogateNameGenerator(seed, know_nothing)
    one = namer.name(key, "Port Sabel", kind, article=article)
    assert one == SurrogateNameGenerator(seed, know_nothing).name(key, "Port Sabel", kind, article=article)
    assert one and one != "Port Sabel"
    assert one != namer.name(key + "'", "Port Sabel", kind, article=article)


@given(st.integers(0, 10**6))
def test_a_person_keeps_the_shape_of_the_name(number: int) -> None:
    namer = SurrogateNameGenerator(1, know_nothing)
    assert re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", namer.name(f"{number}", "Ada Lindqvist", "person") or "")
    assert re.fullmatch(r"[A-Z][a-z]+", namer.name(f"{number}", "Madonna", "person") or "")
    assert re.fullmatch(
        r"[A-Z]\. [A-Z][a-z]+ von [A-Z][a-z]+ Jr\.", namer.name(f"{number}", "J. Max von Sydow Jr.", "person") or ""
    )


def test_class_words_stay_and_names_go() -> None:
    namer = SurrogateNameGenerator(1, know_nothing)
    assert (namer.name("a", "Muskegon County", "place") or "").endswith(" County")
    assert (namer.name("a", "Sagamiko Station", "transport") or "").endswith(" Station")
    assert (namer.name("a", "FC Sion", "team") or "").startswith("FC ")
    assert re.fullmatch(
        r"[A-Z]\w+ National Route \d{3}", namer.name("a", "Japan National Route 472", "transport") or ""
    )
    # Nothing but class words: they would be the name again.
    assert "United" not in (namer.name("a", "United Kingdom", "country", article=True) or "United")
    assert (namer.name("a", "Summer Olympics", "event") or "").endswith(" Summer Olympics")


def test_a_name_with_an_article_gets_a_form_that_takes_one() -> None:
    name = SurrogateNameGenerator(1, know_nothing).name("a", "Netherlands", "country", article=True) or ""
    assert re.search(r"Islands|Republic|Federation|Union", name)


def test_a_common_noun_stays_lower_case() -> None:
    assert (SurrogateNameGenerator(1, know_nothing).name("a", "guitar", "other") or "A").islower()


def test_known_and_refused_names_are_passed_over() -> None:
    first = SurrogateNameGenerator(1, know_nothing).name("a", "Iria", "place")
    assert SurrogateNameGenerator(1, lambda name: name == first).name("a", "Iria", "place") not in (first, None)
    assert SurrogateNameGenerator(1, know_nothing).name(
        "a", "Iria", "place", refuse=lambda name: name == first
    ) not in (first, None)
    assert SurrogateNameGenerator(1, lambda name: True).name("a", "Iria", "place") is None


def test_names_differ_between_keys_and_none_is_in_the_sample_graph(sample: GraphStore) -> None:
    kinds = KindIndex(sample)
    namer = SurrogateNameGenerator(5, sample.knows_name)
    given_to: Counter[str] = Counter()
    for id in list(sample.entities())[::4]:
        if label := sample.label(id):
            name = namer.name(f"item:{id}", label, kinds.kind(id))
            assert name is not None and not sample.knows_name(name), label
            given_to[name] += 1
    repeated = sum(count - 1 for count in given_to.values())
    assert repeated / given_to.total() < 0.001


@pytest.mark.parametrize(
    ("label", "years", "moved"),
    [
        ("2013 Tour de France", 6, "2019 X"),
        ("1998–99 Cypriot Fourth Division", 3, "2001–02 X"),
        ("2009–2010 Serie B", -9, "2000–2001 X"),
        ("Eurovision Song Contest 1974", 5, "X 1979"),
        ("1999–2000 Premier League", 1, "2000–2001 X"),
    ],
)
def test_a_dated_name_moves_with_its_years(label: str, years: int, moved: str) -> None:
    name = read_dated_name(label)
    assert name is not None
    assert name.write("X", years) == moved
    assert name.write(name.stem, 0) == label


@pytest.mark.parametrize("label", ["Ada Lindqvist", "1917", "Class of 1984 Reunion", "1914 to 1918", "Route 1984A"])
def test_other_names_state_no_year(label: str) -> None:
    assert read_dated_name(label) is None
