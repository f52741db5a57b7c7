"""Names of series, prizes, offices and states in the wordings of properties: invented in a twin's world."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from hopwright.counterfactual.real_names import (
    InventedNames,
    find_real_names,
    find_real_wording,
    list_proper_names,
    list_strings,
    move_bounds,
    share_stem,
)
from hopwright.counterfactual.rewriting import TwinServices
from hopwright.counterfactual.surrogate_names import SurrogateNameGenerator, split_person
from hopwright.counterfactual.twin_verification import verify_twins
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item
from hopwright.text.mentions import find_mentions
from tests.drafts import draft_items, draft_ways

TABLE = default_table()


class AnyName:
    """Rules that refuse nothing."""

    def refuse(self, name: str) -> bool:
        return False

    def use(self, name: str) -> None:
        return


def invent(key: str = "item") -> InventedNames:
    return InventedNames(key, SurrogateNameGenerator(1, lambda name: False), AnyName())


@pytest.fixture(scope="module")
def services(sample: GraphStore) -> TwinServices:
    return TwinServices(sample, KindIndex(sample), TABLE, seed=1)


@pytest.fixture(scope="module")
def twins(services: TwinServices, sample: GraphStore) -> list[Item]:
    items = (*draft_items(sample, 40), *draft_ways(sample, "chain", "named-member lead extend end-member")[:8])
    with_passages = [one.item for one in services.make_passage_builder().build_passages(items)]
    return services.make_twins(with_passages)[0]


@pytest.mark.parametrize("property", sorted({**TABLE.entity, **TABLE.literal}))
def test_no_wording_of_any_property_keeps_a_real_name(property: str) -> None:
    entry = TABLE.entity.get(property) or TABLE.literal[property]
    renamed = "\x1f".join(invent().rename(list_strings(entry), {}))
    assert [name for name in list_proper_names(entry) if any(find_mentions(renamed, name))] == []
    assert find_real_names(renamed) == []
    assert "{x" not in renamed and "{f" not in renamed


def test_members_are_called_after_their_series() -> None:
    names = invent()
    awards = names.name("52nd Academy Awards", "event")
    assert awards is not None and re.fullmatch(r"52nd [A-Z][a-z]+ Awards", awards)
    (question,) = names.rename(["Which Academy Awards ceremony came right after the 51st Academy Awards?"], {})
    word = awards.split()[1]
    assert question == f"Which {word} Awards ceremony came right after the 51st {word} Awards?"
    assert re.fullmatch(r"[A-Z][a-z]+ Cup", names.name("FIFA World Cup", "event") or "")
    assert re.fullmatch(r"[A-Z]{3}-51-L", names.name("STS-51-L", "transport") or "")
    assert re.fullmatch(r"[A-Z]{3}16", names.name("COP16", "event") or "")
    final, older = names.name("UEFA Champions League final", "event"), names.name("European Cup final", "event")
    assert final == older and share_stem("UEFA Champions League final") == share_stem("European Cup final")


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Space Shuttle Columbia", "transport"),
        ("Tallinn", "place"),
        ("The Apollo Affair", "work"),
        ("Jim Nobel", "person"),
    ],
)
def test_what_is_only_like_a_member_is_no_member(label: str, kind: str) -> None:
    assert invent().name(label, kind) is None  # type: ignore[arg-type]


def test_two_twins_have_other_names() -> None:
    assert invent("a").name("FIFA World Cup", "event") != invent("b").name("FIFA World Cup", "event")


def test_what_bounds_a_series_moves_with_it(twins: list[Item]) -> None:
    hop = next(
        hop for twin in twins for hop in twin.hops for one in hop.evidence.literals if TABLE.is_series(one.property)
    )
    literal = hop.evidence.literals[0].model_copy(update={"property": "P991340"})  # the Tours de France
    moved = move_bounds([hop.model_copy(update={"evidence": hop.evidence.replace(literals=[literal], triplets=())})],
                        TABLE, {"stem:<tours_de_france>": -20}, 5)  # fmt: skip
    assert moved["from 1965 to 1995"] == "from 1945 to 1975"


def test_no_twin_names_a_series_by_its_real_name(twins: list[Item], sample: GraphStore) -> None:
    assert len(twins) > 20
    assert [find_real_wording(twin, TABLE) for twin in twins] == [""] * len(twins)
    proof = verify_twins(twins, sample, TABLE)
    assert proof.real_names_left == proof.known_surrogates == proof.not_one_to_one == 0


def test_a_real_name_that_is_left_is_counted(twins: list[Item], sample: GraphStore) -> None:
    twin = next(twin for twin in twins if any(one.original and not one.id for one in twin.world))
    name = next(one for one in twin.world if one.original and not one.id)
    spoilt = twin.model_copy(update={"question": twin.question.replace(name.surrogate, name.original)})
    if spoilt.question == twin.question:
        spoilt = twin.model_copy(update={"question": f"{twin.question} ({name.original})"})
    assert find_real_wording(spoilt, TABLE) and verify_twins([spoilt], sample, TABLE).real_names_left == 1


def test_places_in_a_series_stay_one_apart(twins: list[Item]) -> None:
    seen = 0
    for twin in twins:
        places: dict[str, dict[str, str]] = {}
        for one in (one for hop in twin.hops for one in hop.evidence.literals if TABLE.is_series(one.property)):
            places.setdefault(one.property, {})[one.subject] = one.value
        for held in places.values():
            seen += 1
            assert max(Counter(held.values()).values()) == 1
    assert seen


@pytest.mark.parametrize(
    ("label", "shape"),
    [
        ("Pope Benedict XIV", r"[A-Z][a-z]+ (?:II|III|IV|V|VI|VII|VIII|IX)"),
        ("Arthur Wellesley, 1st Duke of Wellington", r"[A-Z][a-z]+ [A-Z][a-z]+"),
        ("Queen Victoria", r"[A-Z][a-z]+"),
    ],
)
def test_people_of_rank_have_names_of_their_kind(label: str, shape: str) -> None:
    namer = SurrogateNameGenerator(1, lambda name: False)
    for key in range(40):
        name = namer.name(str(key), label, "person")
        assert name is not None and re.fullmatch(shape, name), name
    assert split_person("Arthur Wellesley, 1st Duke of Wellington") == ("Arthur", "Wellesley")
