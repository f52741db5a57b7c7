"""Options that nothing rules out: the losing side among them, of the same continent, none within another."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from hopwright.knowledge.images.pictures import PICTURE_KINDS
from hopwright.knowledge.images.store import PictureStore, read_disputed
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.pictures.audit import audit_pictures
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.drafting import PictureDrafter
from hopwright.pictures.rows import list_media, name_kind
from hopwright.planning.computation_forms import Extreme, read_computation
from hopwright.planning.execution import same, stated_value
from hopwright.planning.picture_plans import PicturePlan
from hopwright.planning.picture_proofs import find_unsound, list_choice, refute_choice, refute_plan
from hopwright.planning.plan import PlanStep
from hopwright.records import Hop, Item, Lookup
from tests.conftest import SAMPLE
from tests.pictures.brute_force import BORDERS, RawFacts, answer_hops

POLAND, AUSTRIA = "Q36", "Q40"
SERBIA, MARSHALL_ISLANDS, SOMALIA, ASTANA, MANHATTAN, NEW_YORK = "Q403", "Q709", "Q1045", "Q1520", "Q11299", "Q60"


@pytest.fixture(scope="module")
def raw() -> RawFacts:
    return RawFacts(SAMPLE)


@pytest.fixture(scope="module")
def items(small_set: PictureSet) -> list[Item]:
    return [*(item for item, _ in small_set.items), *small_set.twins]


def list_shown(item: Item, found: PictureSet) -> list[str]:
    return [found.pictures[media]["entity"] for media in list_media(item)]


def list_wrong(hop: Hop) -> list[object]:
    """The values of a hop's wrong options."""
    return [stated_value(hop.model_copy(update={"answer": one.text, "answer_id": one.id})) for one in hop.distractors]


def list_comparing(items: list[Item]) -> Iterator[tuple[Item, Hop]]:
    """Items that compare what their pictures show, with the hop that does."""
    for item in items:
        for hop in item.hops:
            expression = getattr(hop.derivation, "expression", "")
            if expression.startswith("arg") and "all(" not in expression:
                yield item, hop


def test_something_of_the_losing_side_is_always_an_option(
    items: list[Item], small_set: PictureSet, raw: RawFacts
) -> None:
    seen = 0
    for item, hop in list_comparing(items):
        losers = [one for one in list_shown(item, small_set) if one != hop.answer_id]
        steps = item.hops[hop.index :]
        if not item.options:
            continue
        led = [
            answer_hops(
                [_shift(step.derivation, hop.index) for step in steps], [loser], [step.unit for step in steps], raw
            )[-1]
            for loser in losers
        ]
        wrong = list_wrong(item.hops[-1])
        assert any(same(one, other) for one in led for other in wrong), item.question
        # Whoever sees no picture could compare the options with each other, if they were only what is shown.
        assert not all(any(same(one, other) for one in led) for other in wrong), item.question
        seen += 1
    assert seen > 10


def _shift(derivation, by):  # type: ignore[no-untyped-def]
    """The derivation with hop `by` as hop 1."""
    text = derivation.model_dump_json()
    return type(derivation).model_validate_json(text.replace(f"hop{by}", "hop1"))


def test_neighbours_options_lie_on_the_continents_of_the_question(items: list[Item], small_set: PictureSet) -> None:
    continents = default_table().continents
    seen = 0
    for item in items:
        expression = getattr(item.hops[1].derivation, "expression", "")
        if name_kind(item) != "bridging" or f"all({BORDERS}, hop1)" not in expression or not item.options:
            continue
        home = {continents[id] for id in (*list_shown(item, small_set), str(item.hops[1].answer_id))}
        assert {continents[str(one)] for one in list_wrong(item.hops[1])} <= home
        # What the picture shows borders itself no more than its capital is a neighbour's.
        assert not set(list_wrong(item.hops[1])) & set(list_shown(item, small_set))
        seen += 1
    assert seen > 10


def test_no_option_contains_another(items: list[Item], drafter: PictureDrafter) -> None:
    for item in items:
        names = [text.casefold() for text in item.options.values()]
        if item.hops[-1].answer_type == "entity":
            assert not any(one in other or other in one for one, other in itertools.combinations(names, 2))
    assert not drafter.chooser.is_apart(MANHATTAN, [NEW_YORK])
    assert not drafter.chooser.is_apart(NEW_YORK, [MANHATTAN])
    assert drafter.chooser.is_apart("Q33", [SERBIA])


def test_a_part_of_a_whole_is_no_option(drafter: PictureDrafter, source: WikidataSource) -> None:
    facts = drafter.planner.traversals.facts
    parts = [
        (part, whole)
        for part in sorted(source.graph.bearers("Paris", by_label=True) + source.graph.bearers("Munich", by_label=True))
        for whole in facts.objects(part, "P131") or facts.objects(part, "P17")
    ]
    assert parts
    assert not any(drafter.chooser.is_apart(part, [whole]) for part, whole in parts)


def list_places(items: list[Item], drafter: PictureDrafter) -> Iterator[tuple[bool, int]]:
    """Whether what is chosen by a number is shown, and the answer's place among its options, the most extreme 0."""
    for item in items:
        chosen = [(hop, form) for hop in item.hops if (form := read_choice(hop)) is not None]
        if not item.options or not chosen:
            continue
        hop, form = chosen[-1]
        values = [
            drafter.chooser.read_measure(str(one), form.property) for one in (hop.answer_id, *list_wrong(hop))
        ]
        if len(values) == 4 and None not in values:
            ranked = sorted((one for one in values if one is not None), reverse=form.largest)
            yield form.members is None, ranked.index(values[0])  # type: ignore[arg-type]


def read_choice(hop: Hop) -> Extreme | None:
    form = read_computation(hop.derivation)
    return form if isinstance(form, Extreme) else None


@pytest.mark.e2e
def test_no_place_among_the_options_is_right_for_most(large: tuple[PictureSet, float], drafter: PictureDrafter) -> None:
    """Somebody who knows every number but sees no picture takes the most extreme option, or always the second."""
    found, _ = large
    places = list(list_places([item for item, _ in found.items], drafter))
    for shown in (False, True):
        counts = Counter(place for of_shown, place in places if of_shown == shown)
        assert counts.total() > 80
        # As often as by chance, within three standard deviations: a single seed's draws differ by as much.
        chance = 1 / len(counts)
        bound = chance + 3 * math.sqrt(chance * (1 - chance) / counts.total())
        assert max(counts.values()) / counts.total() < bound, counts


def test_options_that_are_only_what_is_shown_are_at_fault(drafter: PictureDrafter) -> None:
    planner = drafter.planner
    plan = next(one for one in planner.list_comparisons((POLAND, AUSTRIA)) if one.form == "argmax-P2046")
    choice = list_choice(plan, planner)
    assert plan.answers[plan.depth] == POLAND
    assert any("without" in one for one in drafter.chooser.list_faults(plan, [AUSTRIA], [{}, {}], choice))
    assert any("losing side" in one for one in drafter.chooser.list_faults(plan, ["Q33"], [{}, {}], choice))


def test_disputed_facts_are_not_asked_for(drafter: PictureDrafter, store: PictureStore) -> None:
    planner, table = drafter.planner, default_table()
    assert planner.read_number(SERBIA, "P1082") is None
    assert "Kosovo" in planner.find_dispute("P2046", SERBIA)
    assert planner.read_independence(MARSHALL_ISLANDS) is None
    assert planner.list_neighbours(SERBIA) == ()
    reasons = {one.kind: one.reason for one in store.pictures if one.entity == SOMALIA}
    assert reasons["outline"] == "disputed: without Somaliland"
    assert reasons["flag"] == ""
    assert {kind for _, kind in read_disputed()} <= set(PICTURE_KINDS)
    assert all(len(reason) > len("disputed: ") for reason in read_disputed().values())
    assert set(table.disputed) <= {*table.entity, *table.literal}
    assert all(reason for of_property in table.disputed.values() for reason in of_property.values())


def test_a_plan_over_a_disputed_fact_is_refuted(drafter: PictureDrafter) -> None:
    facts = drafter.planner.traversals.facts
    (area,) = facts.scalars(SERBIA, "P2046")
    step = PlanStep(Lookup(subject="hop1", property="P2046"), area, "number", "square kilometres")
    plan = PicturePlan("bridging", "number", "chain-3", (SERBIA,), (step,))
    refuted = refute_plan(plan, drafter.planner)
    assert refuted is not None
    assert (refuted.proof, refuted.reason) == ("disputed", "with Kosovo or without")
    assert find_unsound(plan, plan.answers, drafter.planner)


def test_a_choice_that_changes_nothing_is_refuted(drafter: PictureDrafter) -> None:
    """Of two countries that became independent in one year, it does not matter which is the larger."""
    planner = drafter.planner
    pairs = (
        (plan, list_choice(plan, planner))
        for pair in itertools.permutations(("Q912", "Q916", "Q929", "Q945", "Q965", "Q1006", "Q1019"), 2)
        for plan in planner.list_comparisons(pair)
        if plan.form.endswith("-year") and len(plan.steps) == 2
    )
    found = [(plan, choice) for plan, choice in pairs if choice is not None and choice.others]
    idle = [(plan, choice) for plan, choice in found if any(
        same(led[plan.depth], plan.answers[plan.depth]) for led in choice.others.values()
    )]  # fmt: skip
    assert idle
    assert len(idle) < len(found)
    assert all(refute_choice(*one) is not None for one in idle)


def test_what_was_renamed_has_its_newest_name_and_both_count(drafter: PictureDrafter, source: WikidataSource) -> None:
    assert source.graph.label(ASTANA) == "Astana"
    assert "Nur-Sultan" in drafter.list_names(ASTANA)
    assert drafter.list_names(ASTANA)[0] == "Astana"
    assert "Astana" not in source.graph.aliases(ASTANA)


def _take(item: Item, texts: list[tuple[str, str | None]]) -> Item:
    last = item.hops[-1]
    wrong = [letter for letter in item.options if letter != item.label]
    changed = dict(zip(wrong, texts, strict=False))
    options = {letter: changed.get(letter, (text, None))[0] for letter, text in item.options.items()}
    distractors = tuple(
        one.model_copy(update={"text": text, "id": id})
        for one, (text, id) in zip(last.distractors, [changed[letter] for letter in wrong], strict=True)
    )
    last = last.model_copy(update={"options": options, "distractors": distractors})
    return item.model_copy(update={"hops": (*item.hops[:-1], last), "options": options})


def test_the_audit_finds_options_that_stand_out(
    small_set: PictureSet, drafter: PictureDrafter, source: WikidataSource
) -> None:
    plain = [item for item, _ in small_set.items if len(item.options) == 4 and item.hops[-1].answer_type == "entity"]
    compared = [item for item, _ in list_comparing([one for one, _ in small_set.items]) if item.options]
    label = source.graph.label
    far = [(label(one), one) for one in random.Random(0).sample(["Q1011", "Q398", "Q766", "Q702"], 3)]
    faulty = [
        (_take(next(one for one in plain if name_kind(one) == "bridging"), far), "options"),
        (_take(next(one for one in compared if len(list_media(one)) == 2), far), "options"),
    ]
    for item, check in faulty:
        report = audit_pictures(replace(small_set, items=((item, "train"),), twins=()), drafter, lambda _: None)
        assert check in {one.check for one in report.violations if one.item == item.id}
