"""Kinds, nouns, sorts and articles: on tiny worlds of our own, and on the sample."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.wikidata.nouns import KindIndex, article, definite
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records.values import EntityKind
from hopwright.text.years import name_states_year
from tests.worlds import DictGraph


def index(labels: dict[str, str], triplets: list[tuple[str, str, str]]) -> KindIndex:
    """The kinds of a world of these labels and facts."""
    return KindIndex(DictGraph(labels=labels, aliases={}, triplets=triplets, literals=[]))


def classed(label: str, *classes: tuple[str, str]) -> KindIndex:
    """The kinds of a world with one entity Q1000001 of these classes (id and label)."""
    labels = {"Q1000001": label, **dict(classes)}
    return index(labels, [("Q1000001", "P31", id) for id, _ in classes])


def test_a_frequent_class_is_worded_by_hand() -> None:
    kinds = classed("Felitto", ("Q747074", "comune of Italy"))
    assert (kinds.kind("Q1000001"), kinds.noun("Q1000001")) == ("place", "Italian municipality")


@pytest.mark.parametrize(
    ("label", "kind", "noun"),
    [
        ("municipality of Kenya", "place", "Kenyan municipality"),
        ("county of Ruritania", "place", "county in Ruritania"),
        ("former district of Estonia", "place", "former Estonian district"),
        ("horror film", "work", "film"),
        ("handball club", "team", "handball club"),
        ("folklore museum", "organization", "folklore museum"),
        ("peace prize", "award", "award"),
        ("narrow-gauge railway", "transport", "narrow-gauge railway"),
        ("crater lake", "nature", "crater lake"),
        ("fictional dog", "fiction", "fictional character"),
    ],
)
def test_any_other_class_is_read_by_its_label(label: str, kind: str, noun: str) -> None:
    kinds = classed("Something", ("Q9999901", label))
    assert (kinds.kind("Q1000001"), kinds.noun("Q1000001")) == (kind, noun)


def test_states_win_over_their_other_classes() -> None:
    classes = [("Q112099", "island nation"), ("Q1489259", "superpowers"), ("Q6256", "country"), ("Q515", "city")]
    kinds = classed("Vestmark", *classes)
    assert (kinds.kind("Q1000001"), kinds.noun("Q1000001")) == ("country", "country")


def test_a_state_of_the_past_is_a_former_country() -> None:
    kinds = classed("Old Vestmark", ("Q3624078", "sovereign state"), ("Q3024240", "historical country"))
    assert kinds.noun("Q1000001") == kinds.sort("Q1000001") == "former country"


def test_a_city_that_was_once_a_state_is_a_city() -> None:
    kinds = classed("Portus", ("Q3024240", "historical country"), ("Q747074", "comune of Italy"))
    assert kinds.kind("Q1000001") == "place"


def test_a_big_town_is_a_city() -> None:
    kinds = classed("Milan", ("Q747074", "comune of Italy"), ("Q1549591", "big city"))
    assert kinds.noun("Q1000001") == "Italian city"


def test_odd_classes_do_not_speak_for_an_entity() -> None:
    kinds = classed("Vanderbilt University", ("Q45400320", "open-access publisher"), ("Q3918", "university"))
    assert kinds.noun("Q1000001") == "university"


def test_a_person_is_named_by_trade() -> None:
    triplets = [("Q1", "P31", "Q5"), ("Q2", "P31", "Q5"), ("Q3", "P31", "Q5"), ("Q4", "P31", "Q5")]
    triplets += [("Q1", "P106", "Q90001"), ("Q90003", "P57", "Q2"), ("Q90004", "P57", "Q2"), ("Q90005", "P161", "Q2")]
    triplets += [("Q3", "P54", "Q90006"), ("Q90006", "P31", "Q13393265")]
    labels = {"Q5": "human", "Q90001": "opera singer", "Q13393265": "basketball team"}
    kinds = index(labels | {f"Q{n}": "A B" for n in range(1, 5)}, triplets)
    assert [kinds.noun(f"Q{n}") for n in range(1, 5)] == ["singer", "film director", "basketball player", "person"]
    assert {kinds.kind(f"Q{n}") for n in range(1, 5)} == {"person"}


def test_an_entity_without_a_class_is_known_by_its_name_or_its_facts() -> None:
    labels = {"Q1": "Butts County", "Q2": "2014 Tour de Suisse", "Q3": "Ada Lindqvist", "Q4": "Ghat", "Q5000": "comet"}
    triplets = [("Q9", "P57", "Q3"), ("Q4", "P47", "Q9"), ("Q8", "P31", "Q5000")]
    kinds = index(labels, triplets)
    assert [kinds.kind(id) for id in ("Q1", "Q2", "Q3", "Q4")] == ["place", "event", "person", "place"]
    assert kinds.noun("Q1") == "county" and kinds.noun("Q2") == "cycling race"
    assert kinds.kind("Q5000") == "other", "a class is no thing to ask about"
    assert kinds.kind("Q77") == "other"


def test_one_sort_is_of_like_with_like() -> None:
    labels = {"Q1": "A", "Q2": "B", "Q3": "C", "Q515": "city", "Q747074": "comune of Italy", "Q35657": "state"}
    kinds = index(labels, [("Q1", "P31", "Q515"), ("Q2", "P31", "Q747074"), ("Q3", "P31", "Q35657")])
    assert kinds.sort("Q1") == kinds.sort("Q2") != kinds.sort("Q3")


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("actor", "an"), ("film", "a"), ("hour", "an"), ("university", "a"), ("European country", "a"),
        ("Italian city", "an"), ("one-off", "a"), ("honour", "an"), ("unicorn", "a"), ("unincorporated area", "an"),
        ("American state", "an"), ("UCI team", "a"), ("NHL team", "an"), ("8-bit game", "an"), ("Ukrainian city", "a"),
        ("umbrella", "an"), ("island", "an"), ("history museum", "a"), ("FBI agent", "an"), ("U.S. state", "a"),
        ("animated film", "an"), ("Urdu poem", "an"), ("urban district", "an"),
    ],
)  # fmt: skip
def test_the_indefinite_article_follows_the_sound(phrase: str, expected: str) -> None:
    assert article(phrase) == expected


THE: list[tuple[EntityKind, str, str]] = [
    *[("country", "country", label) for label in (
        "United States of America", "Netherlands", "Philippines", "Soviet Union", "Gambia", "Maldives", "Isle of Man",
        "United Kingdom", "Kingdom of Bavaria", "Republic of the Congo", "Ottoman Empire", "Solomon Islands",
        "United Arab Emirates", "Dominican Republic", "Weimar Republic", "State of Palestine", "Qing dynasty")],
    *[("nature", "river", label) for label in ("Seine", "Rhine", "River Thames", "Mississippi River")],
    *[("nature", "natural feature", label) for label in (
        "Alps", "Black Sea", "Gulf of Mexico", "Bay of Biscay", "Iberian Peninsula", "Niagara River", "Rocky Mountains",
        "English Channel", "Strait of Gibraltar", "Canary Islands", "Isle of Skye")],
    ("nature", "mountain range", "Sierra Nevada"), ("nature", "drainage basin", "Lake Erie basin"),
    *[("place", "place", label) for label in (
        "Province of Cuneo", "Metropolitan City of Turin", "arrondissement of Auch", "Bronx", "Middle East",
        "canton of Coteaux", "Canton of Bern", "Washington metropolitan area", "Orkney Islands")],
    *[("organization", "organisation", label) for label in (
        "University of Bonn", "Massachusetts Institute of Technology", "Royal Swedish Academy of Sciences",
        "Museum of Modern Art", "Democratic Party", "African Union", "British Museum", "New York Stock Exchange",
        "Communist Party of the Soviet Union", "Art Institute of Chicago", "United Nations")],
    *[("award", "award", label) for label in (
        "Academy Award for Best Actor", "Copley Medal", "Golden Lion", "Nobel Prize in Physics", "Legion of Honour")],
    *[("event", "event", label) for label in (
        "2013 Tour de France", "2011–12 Bundesliga", "Korean War", "Kyoto Protocol", "Battle of Hastings",
        "Treaty on the Prohibition of Nuclear Weapons", "13th Chess Olympiad", "2012 Summer Olympics")],
    *[("competition", "league", label) for label in ("Premier League", "Tour de France", "UEFA Champions League")],
    ("team", "basketball team", "Chicago Bulls"), ("team", "basketball team", "Utah Jazz"),
    ("team", "national football team", "Tunisia national football team"),
    ("transport", "bridge", "Golden Gate Bridge"), ("transport", "railway line", "Yamanote Line"),
    ("other", "period", "1980s"), ("other", "period", "20th century"), ("other", "time zone", "Pacific Time Zone"),
]  # fmt: skip
BARE: list[tuple[EntityKind, str, str]] = [
    *[("person", "actor", label) for label in ("Marilyn Monroe", "Jesus", "Elizabeth II")],
    *[("country", "country", label) for label in (
        "France", "Japan", "North Korea", "New Zealand", "Bosnia and Herzegovina", "Great Britain", "South Sudan",
        "Cape Verde", "Nazi Germany", "Papua New Guinea", "Equatorial Guinea", "Austria-Hungary")],
    *[("place", "city", label) for label in (
        "Los Angeles", "New York", "Washington, D.C.", "The Hague", "Milan", "Lee County", "Bavaria", "North America",
        "Arlington National Cemetery", "Île-de-France")],
    *[("nature", "lake", label) for label in ("Lake Michigan", "Loch Ness", "Vänern")],
    ("nature", "mountain", "Mont Blanc"), ("nature", "island", "Long Island"), ("nature", "island", "Svalbard"),
    *[("organization", "company", label) for label in (
        "Warner Bros.", "Paramount Pictures", "Harvard University", "Yale University", "NASA", "Microsoft",
        "Bank of America", "Trinity College", "Universal Pictures", "Oracle Corporation", "Interpol")],
    *[("team", "football club", label) for label in (
        "FC Bayern Munich", "Juventus F.C.", "Manchester United F.C.", "Borussia Dortmund", "2019 Astana")],
    ("team", "basketball team", "Olimpia Milano"), ("competition", "league", "Serie B"),
    ("competition", "cycling race", "Milan–San Remo"), ("event", "tournament", "UEFA Euro 2016"),
    ("transport", "airport", "Heathrow Airport"), ("transport", "railway station", "Tokyo Station"),
    ("transport", "road", "Japan National Route 8"), ("transport", "space mission", "STS-57"),
    ("transport", "bridge", "London Bridge"), ("other", "time zone", "Central European Time"),
    ("fiction", "superhero", "Batman"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "noun", "label"), THE)
def test_names_that_take_the(kind: EntityKind, noun: str, label: str) -> None:
    assert definite(label, kind, noun) == f"the {label}"


@pytest.mark.parametrize(("kind", "noun", "label"), BARE)
def test_names_that_take_no_article(kind: EntityKind, noun: str, label: str) -> None:
    assert definite(label, kind, noun) == label


def test_a_label_that_brings_its_article_has_it_lowered() -> None:
    assert definite("The Bahamas", "country") == "the Bahamas"
    assert definite("The Walt Disney Company", "organization") == "the Walt Disney Company"
    assert definite("the Crown", "organization") == "the Crown"


def test_works_stand_in_quotes() -> None:
    assert definite("Psycho", "work") == '"Psycho"'
    assert definite("The Bahamas", "work") == '"The Bahamas"'
    assert definite('The "Real" Thing', "work") == "\"The 'Real' Thing\""
    assert definite("season 2 of Star Trek", "work") == 'season 2 of "Star Trek"'


@given(st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1, max_size=30), st.sampled_from(
    ["country", "place", "nature", "team", "competition", "event", "organization", "award", "transport", "other"]
))  # fmt: skip
def test_running_text_keeps_the_whole_name(label: str, kind: EntityKind) -> None:
    text = definite(label, kind)
    assert text.removeprefix("the ") in (label, label.removeprefix("The "), label.removeprefix("the "))
    assert not text.startswith("the the ")


@pytest.mark.parametrize("label", ["2013 Tour de France", "2011–12 Bundesliga", "Astana 2018", "EuroBasket 1937"])
def test_a_name_may_state_its_year(label: str) -> None:
    assert name_states_year(label)


@pytest.mark.parametrize("label", ["Tour de France", "FC Schalke 04", "Interstate 80", "Stockholm 12345", "Q1"])
def test_other_numbers_in_names_are_no_years(label: str) -> None:
    assert not name_states_year(label)


def test_nouns_of_the_sample_fit_after_which(sample: GraphStore, sample_kinds: KindIndex) -> None:
    nouns = Counter(sample_kinds.noun(id) for id in sample.entities())
    for noun in nouns:
        assert re.fullmatch(r"[\w'’. -]{3,60}", noun), noun
        assert not re.match(r"(a|an|the|list) ", noun), noun
    assert nouns["thing"] < 0.01 * sum(nouns.values())


def test_few_entities_of_the_sample_stay_unknown(sample: GraphStore, sample_kinds: KindIndex) -> None:
    kinds = Counter(
        sample_kinds.kind(id)
        for id in sample.entities()
        if not sample.subjects("P31", id) and sample_kinds.noun(id) != "chemical element"
    )
    assert set(kinds) >= {"person", "country", "place", "work", "team", "event", "organization", "award", "nature"}
    assert kinds["other"] < 0.025 * sum(kinds.values())


def test_what_properties_say_of_the_sample_agrees_with_its_classes(sample: GraphStore, sample_kinds: KindIndex) -> None:
    expected: dict[str, set[EntityKind]] = {
        "P57": {"person"}, "P86": {"person"}, "P27": {"country"}, "P166": {"award"}, "P272": {"organization"},
        "P647": {"team"}, "P19": {"place", "country", "nature"}, "P36": {"place"},
    }  # fmt: skip
    for property, kinds in expected.items():
        objects = [object for _, object in sample.edges(property)]
        assert sum(sample_kinds.kind(object) in kinds for object in objects) >= 0.95 * len(objects), property


def test_the_same_graph_gives_the_same_kinds(sample: GraphStore, sample_kinds: KindIndex) -> None:
    again = KindIndex(sample)
    ids = [id for number, id in enumerate(sample.entities()) if number % 7 == 0]
    assert [sample_kinds.phrase(id) for id in ids] == [again.phrase(id) for id in ids]
