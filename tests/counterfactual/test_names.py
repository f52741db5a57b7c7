import re
import tomllib
from collections import Counter
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright import counterfactual
from hopwright.counterfactual.surrogate_names import (
    SurrogateNameGenerator,
    is_class_word,
    read_dated_name,
)
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.text.articles import definite

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
    assert re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", namer.name(f"{number}", "Madonna", "person") or "")
    assert re.fullmatch(r"[A-Z][a-z]+", namer.name(f"{number}", "King Harald", "person") or "")
    assert re.fullmatch(
        r"[A-Z]\. [A-Z][a-z]+ von [A-Z][a-z]+ Jr\.", namer.name(f"{number}", "J. Max von Sydow Jr.", "person") or ""
    )


@pytest.mark.parametrize(
    ("label", "kind", "noun", "looks"),
    [
        ("Muskegon County", "place", "American county", r"\w+ County"),
        ("MS Finlandia", "transport", "ship", r"(MS|MV) .+"),
        ("FC Sion", "team", "football club", r"(FC|SV|AC) \w+|\w+ (FC|United|Rovers|Athletic|Wanderers|City)"),
        ("Sierra Nevada", "nature", "mountain range", r"\w+ (Mountains|Range|Hills)"),
        ("Rhine", "nature", "river", r"\w+ River|River \w+"),
        ("Frankfurt am Main", "place", "German city", r"((New|Port|Upper) )?[A-Z][a-z]+"),
        ("Paramount Pictures", "organization", "film studio", r"\w+ (Pictures|Studios)"),
        ("Viacom", "organization", "film distributor", r"\w+ (Pictures|Films|Releasing|Film Distributors)"),
        ("Gandhi", "work", "title role", r"\w+ \w+|\w+ (of|at|from) \w+"),
        ("Harvard University", "organization", "university", r"University of \w+|\w+ University"),
        ("Brooklyn Bridge", "place", "landmark nobody classed", r"\w+ Bridge"),
        ("9-1-1", "other", "telephone number", r"\d{4}"),
    ],
)  # fmt: skip
def test_a_name_reads_as_one_of_its_noun(label: str, kind: str, noun: str, looks: str) -> None:
    namer = SurrogateNameGenerator(1, know_nothing)
    for number in range(30):
        name = namer.name(f"{number}", label, kind, noun=noun, article=bool(number % 2)) or ""
        assert re.fullmatch(looks, name), name
        own = set(re.findall(r"[A-Z]\w{3,}", label)) - {"County", "Pictures", "University", "Bridge"}
        assert not own & set(name.split())


def test_no_two_words_of_the_label_are_left_of_any_kind(sample: GraphStore) -> None:
    """What is left of a real name could be looked up: only words that say what a thing is may come again."""
    kinds = KindIndex(sample)
    namer = SurrogateNameGenerator(2, know_nothing)
    left = Counter[str]()
    for id in list(sample.entities())[::9]:
        label = sample.label(id)
        if label and label[:1].isupper():
            name = namer.name(id, label, kinds.kind(id), noun=kinds.noun(id)) or ""
            left.update(word for word in set(re.findall(r"[A-Z][a-z]{3,}", label)) & set(re.findall(r"\w+", name)))
    assert not set(left) & {"Sierra", "Main", "Saint", "Santa", "Monte", "Loch", "Lago", "Mont"}
    inventory = tomllib.loads(resources.files(counterfactual).joinpath("names.toml").read_text("utf-8"))
    frames = [frame for part in ("frames", "kinds") for found in inventory[part].values() for frame in found]
    ours = {word.rstrip("s") for text in (*frames, *inventory["words"]["adjective"], *inventory["words"]["noun"])
            for word in re.findall(r"[A-Z]\w+", text)}  # fmt: skip
    assert all(is_class_word(word) or word.rstrip("s") in ours for word in left), left


def test_a_name_takes_an_article_where_the_text_has_one() -> None:
    namer = SurrogateNameGenerator(1, know_nothing)
    for number in range(20):
        name = namer.name(f"{number}", "Netherlands", "country", noun="country", article=True) or ""
        assert definite(name, "country", "country").startswith("the ")


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
    assert repeated / given_to.total() < 0.002


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
