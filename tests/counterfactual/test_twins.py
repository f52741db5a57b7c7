import datetime as dt
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopwright.counterfactual.constants import list_constants
from hopwright.counterfactual.renamed_entities import list_texts
from hopwright.counterfactual.twin_verification import retrieve_candidates
from hopwright.counterfactual.twin_wording import strip_proper
from hopwright.counterfactual.twins import TwinMaker
from hopwright.knowledge.facts import EvidenceFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.planning.execution import run_plan, same, stated_value
from hopwright.records import (
    Compute,
    Constraint,
    Distractor,
    Domain,
    Evidence,
    Hop,
    Item,
    LiteralFact,
    Passage,
    Rejected,
    ReverseLookup,
    Triplet,
    plan_id,
)
from hopwright.text.mentions import find_leftover
from tests.builders import ALIAS, LABEL, all_items, bridge_item, chain_item, converging_item
from tests.counterfactual.conftest import make_maker
from tests.worlds import DictGraph

TABLE = default_table()
REPLACED = ["Q901", "Q902", "Q903", "Q904", "Q905", "Q907", "Q908", "Q909", "Q910"]


def twin_of(item: Item, seed: int = 0, maker: TwinMaker | None = None) -> Item:
    twin = (maker or make_maker(seed)).make_twin(item)
    assert isinstance(twin, Item), twin
    return twin


def reject(item: Item) -> Rejected:
    outcome = make_maker().make_twin(item)
    assert isinstance(outcome, Rejected), outcome
    assert outcome.key == item.id and Item.model_validate_json(outcome.row) == item
    return outcome


def edit(item: Item, index: int, **changes: object) -> Item:
    hops = [hop.model_copy(update=changes) if hop.index == index else hop for hop in item.hops]
    last = hops[-1]
    return item.model_copy(
        update={"hops": tuple(hops), "id": plan_id(item.topology, tuple(hop.derivation for hop in hops)),
                "answer": last.answer, "options": last.options, "label": last.label}
    )  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(all_items()), st.integers(0, 10**6))
def test_a_twin_holds_in_its_own_world_and_nothing_of_the_real_one_is_left(item: Item, seed: int) -> None:
    twin = twin_of(item, seed)
    values = run_plan(twin.hops, EvidenceFacts(twin.hops, TABLE), TABLE)
    for hop in twin.hops:
        assert same(values[hop.index], stated_value(hop))
        texts = [distractor.text for distractor in hop.distractors]
        assert len({hop.answer, *texts}) == 4
        assert hop.label is not None and hop.options[hop.label] == hop.answer
        assert set(hop.options.values()) == {hop.answer, *texts}
        assert hop.evidence.wikipedia_url == "" and hop.answer_aliases == ()
    assert (twin.variant, twin.twin, twin.topology) == ("counterfactual", item.id, item.topology)
    assert twin.options[twin.label] == twin.answer == twin.hops[-1].answer
    names = [LABEL[id] for id in REPLACED] + [alias for id in REPLACED for alias in ALIAS.get(id, ())]
    assert find_leftover(list_texts(twin), [*names, "Rolf Ekman", "Mia Sundt", "Ostmark", "Harnes"]) is None
    assert not set(REPLACED) & {word for hop in twin.hops for word in hop.model_dump_json().split('"')}


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(all_items()), st.integers(0, 10**6))
def test_the_world_is_one_to_one_and_its_names_are_new(item: Item, seed: int) -> None:
    twin = twin_of(item, seed)
    graph = DictGraph()
    names = [one for one in twin.world if any(map(str.isalpha, one.original)) and "." not in one.id]
    assert len({one.original for one in names}) == len({one.surrogate for one in names}) == len(names)
    assert not any(graph.knows_name(one.surrogate) for one in names)
    # QX1_… stands for the first of them, and so on.
    known = [one.surrogate for one in names if one.id]
    for hop in twin.hops:
        if hop.answer_id:
            assert known[int(hop.answer_id[2:].split("_")[0]) - 1] == hop.answer
    moved = [one for one in twin.world if "." in one.id]
    assert len(moved) == len({lit for hop in item.hops for lit in hop.evidence.literals})
    assert all(one.original != one.surrogate for one in moved)
    assert not [one for one in moved if "1 January" in one.original or "1 January" in one.surrogate], "a year is a year"


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_numbers_move_and_dates_of_one_world_stay_plausible(seed: int) -> None:
    item, twin = bridge_item(), twin_of(bridge_item(), seed)
    for old, new in zip(item.hops, twin.hops, strict=True):
        assert old.answer != new.answer
        if old.unit == "year":
            assert 1000 <= int(new.answer) <= 2026
            assert [int(d.text) - int(new.answer) for d in new.distractors] == [
                int(d.text) - int(old.answer) for d in old.distractors
            ]
    assert int(twin.answer) > 0
    assert twin.answer not in twin.question.replace("?", "").split()


def test_same_seed_same_twin_whatever_came_before(tiny_maker: TwinMaker) -> None:
    forwards = [twin_of(item, maker=tiny_maker) for item in all_items()]
    backwards = [twin_of(item, maker=make_maker()) for item in reversed(all_items())]
    assert forwards == backwards[::-1]
    assert [twin_of(item, 1).question for item in all_items()] != [twin.question for twin in forwards]


def test_two_items_with_plans_of_one_shape_get_twins_with_two_ids() -> None:
    one = chain_item()
    other = edit(one, 4, question="How many years before 2000 is 1905?")
    moved = other.model_copy(update={"id": "hw-0000000000000000"})
    assert twin_of(one).id != twin_of(moved).id
    twin = twin_of(one)
    assert twin.id == plan_id(twin.topology, tuple(hop.derivation for hop in twin.hops), "counterfactual")


def test_letters_of_twins_are_spread_over_all_four() -> None:
    letters = Counter(twin_of(item, seed).label for seed in range(80) for item in all_items())
    assert set(letters) == set("ABCD") and min(letters.values()) > 35


@pytest.mark.parametrize("seed", range(12))
def test_constants_move_and_every_sub_question_takes_the_new_inputs(seed: int) -> None:
    twin = twin_of(chain_item(), seed)
    (year,) = list_constants(twin.hops[3].derivation)
    assert year != 2000 and twin.question.startswith(f"How many years before {year} was the country founded")
    third, fourth = twin.hops[2], twin.hops[3]
    assert fourth.question == f"How many years before {year} is {third.answer}?"
    assert int(fourth.answer) == year - int(third.answer) > 0
    assert twin.hops[1].answer in third.question and twin.hops[0].answer in twin.hops[1].question


def reverse_item(year: str, value: str) -> Item:
    """Director's birth year, committees, their sum, and the country founded then."""
    built = bridge_item().hops
    fact = LiteralFact(subject="Q905", property="P571", value=f"{year}-01-01T00:00:00Z", datatype="dateTime",
                       subject_label="Karelund", property_label="inception")  # fmt: skip
    kind = Triplet(subject="Q905", property="P31", object="Q6256", subject_label="Karelund",
                   property_label="instance of", object_label="country")  # fmt: skip
    last = Hop(
        index=4, question=f"Which country was founded in {year}?", answer="Karelund", answer_type="entity",
        answer_id="Q905", domain=Domain.HISTORY, depends_on=(3,),
        derivation=ReverseLookup(
            property="P571", value=value, constraints=(Constraint(property="P31", value="Q6256"),)
        ),
        distractors=(Distractor(text="Vestmark", kind="sibling", id="Q903"),
                     Distractor(text="Iria", kind="sibling", id="Q909"), Distractor(text="Ostmark", kind="sibling")),
        options={"A": "Karelund", "B": "Vestmark", "C": "Iria", "D": "Ostmark"}, label="A",
        evidence=Evidence.of(triplets=(kind,), literals=(fact,)),
    )  # fmt: skip
    count = built[2].model_copy(
        update={"index": 3, "question": f"What is 1951 moved by {int(year) - 1951}?", "answer": year, "unit": "year",
                "derivation": Compute(expression=f"hop2 + {int(year) - 1951}", kind="temporal"), "depends_on": (2,),
                "evidence": Evidence(),
                "distractors": tuple(Distractor(text=str(int(year) + k), kind="slip") for k in (1, 2, 10))}
    )  # fmt: skip
    hops = (built[0], built[1], count, last)
    return Item(
        id=plan_id("chain", tuple(hop.derivation for hop in hops)), topology="chain", hops=hops,
        question="Which country was founded long after the director of Night Harbour was born?", answer="Karelund",
        options=last.options, label="A",
    )  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_what_is_asked_for_by_its_year_is_given_the_year_that_the_plan_reaches(seed: int) -> None:
    twin = twin_of(reverse_item("1990", "hop3"), seed)
    founded = twin.hops[3].evidence.literals[0].value
    assert founded.startswith(f"{twin.hops[2].answer}-01-01")
    (moved,) = list_constants(twin.hops[2].derivation)
    assert int(twin.hops[2].answer) == int(twin.hops[1].answer) + moved != 1990
    assert twin.hops[3].answer in {one.surrogate for one in twin.world}
    assert twin.hops[3].evidence.triplets[0].object_label == "country"


@pytest.mark.parametrize("seed", range(8))
def test_wrong_options_meet_the_open_condition_with_other_years(seed: int) -> None:
    """A retriever that looks for the bay alone has three countries to choose from, each with a year of its own."""
    item = reverse_item("1990", "hop3")
    last = item.hops[3]
    assert isinstance(last.derivation, ReverseLookup)
    bay = Triplet(subject="Q905", property="P206", object="Q904", subject_label="Karelund",
                  property_label="located in or next to body of water", object_label="Ostrava Bay")  # fmt: skip
    told = Passage(title="Karelund", text="Karelund lies on Ostrava Bay and was founded in 1990.")
    last = last.model_copy(
        update={
            "derivation": last.derivation.model_copy(
                update={"constraints": (Constraint(property="P206", value="Q904"),)}
            ),
            "evidence": last.evidence.replace(triplets=(bay,), passages=(told,)),
        }
    )
    twin = twin_of(item.model_copy(update={"hops": (*item.hops[:3], last)}), seed)
    ((hop, name, found),) = retrieve_candidates(twin)
    assert (hop, found) == (4, 3) and name in {one.surrogate for one in twin.world if one.id == "Q904"}
    known = {distractor.text for distractor in twin.hops[3].distractors if distractor.id}
    rivals = [passage for passage in twin.hops[3].evidence.passages if not passage.supporting]
    assert {passage.title for passage in rivals} == known and len(known) == 2
    year = twin.hops[2].answer
    assert all(name in passage.text and year not in passage.text for passage in rivals)
    assert (
        twin.hops[3].answer == twin.hops[3].evidence.passages[0].title
        and year in twin.hops[3].evidence.passages[0].text
    )


def test_a_comparison_may_turn_round_and_then_the_options_follow() -> None:
    hops = converging_item().hops[:3]
    areas = (hops[2].evidence.literals[0], hops[2].evidence.literals[1].model_copy(update={"value": "+340000000000"}))
    last = hops[2].model_copy(update={"evidence": Evidence.of(literals=areas)})
    item = Item(
        id="hw-close", topology="converging-3", hops=(hops[0], hops[1], last), answer="Vestmark", options=last.options,
        question="Which country is larger, that of Ada Lindqvist or that of Tomas Ferreira?", label="D",
    )  # fmt: skip
    turned = 0
    for seed in range(40):
        twin = twin_of(item, seed)
        first, second, third = twin.hops
        assert third.answer in (first.answer, second.answer)
        assert len({third.answer, *(d.text for d in third.distractors)}) == 4
        turned += third.answer == second.answer
        sizes = [int(literal.value) for literal in third.evidence.literals]
        assert abs(sizes[0] - sizes[1]) / max(sizes) >= 0.1
    assert 0 < turned < 40


def test_an_answer_that_a_later_hop_rests_on_never_turns_round() -> None:
    for seed in range(30):
        twin = twin_of(converging_item(), seed)
        assert twin.hops[2].answer == twin.hops[0].answer


def test_births_stay_before_deaths() -> None:
    item = bridge_item()
    birth = item.hops[1].evidence.literals[0]
    death = birth.model_copy(update={"property": "P570", "value": "1953-02-01T00:00:00Z"})
    item = edit(item, 2, evidence=Evidence.of(literals=(birth, death)))
    for seed in range(40):
        first, last = (dt.date.fromisoformat(fact.value[:10]) for fact in twin_of(item, seed).hops[1].evidence.literals)
        assert first < last and 1 <= last.year - first.year <= 2


def test_passages_are_rewritten_with_the_rest() -> None:
    item = edit(
        chain_item(), 1,
        evidence=Evidence.of(
            triplets=chain_item().hops[0].evidence.triplets,
            passages=(Passage(title="Night Harbour", text="Night Harbour is Ada Lindqvist's film."),),
        ),
    )  # fmt: skip
    item = Item.model_validate_json(item.model_dump_json())
    twin = twin_of(item)
    passage = twin.hops[0].evidence.passages[0]
    film = next(one.surrogate for one in twin.world if one.id == "Q901")
    assert passage.title == film and passage.text == f"{film} is {twin.hops[0].answer}'s film."


def test_a_plan_that_its_evidence_does_not_carry_is_rejected() -> None:
    outcome = reject(edit(chain_item(), 2, evidence=Evidence()))
    assert outcome.check == "twin_underivable" and "P27" in outcome.reason


def test_an_answer_that_cannot_be_read_is_a_rejection_and_no_crash() -> None:
    outcome = reject(edit(chain_item(), 3, answer="nineteen-oh-five"))
    assert outcome.check == "twin_input" and "nineteen-oh-five" in outcome.reason
    assert reject(edit(chain_item(), 3, question="In what year was \ue000 founded?")).check == "twin_input"


def test_one_label_for_two_entities_is_rejected() -> None:
    wrong = (Distractor(text="Vestmark", kind="sibling", id="Q999"), *chain_item().hops[1].distractors[1:])
    outcome = reject(edit(chain_item(), 2, distractors=wrong))
    assert outcome.check == "twin_ambiguous" and "Vestmark" in outcome.reason


def test_a_number_that_cannot_be_told_from_a_constant_is_rejected() -> None:
    item = edit(chain_item(), 4, derivation=Compute(expression="2 * hop3 - 1905", kind="arithmetic"), answer="1905",
                question="What is twice 1905 less 1905?", unit="year",
                distractors=tuple(Distractor(text=t, kind="slip") for t in ("1904", "1906", "1907")))  # fmt: skip
    assert reject(item).check == "twin_wording"


def test_a_constant_that_the_whole_question_says_in_other_words_stays() -> None:
    item = chain_item().model_copy(update={"question": "How long before the millennium was the country of … founded?"})
    twin = twin_of(item)
    assert list_constants(twin.hops[3].derivation) == [2000] and "before 2000" in twin.hops[3].question


def test_a_sub_question_that_hides_its_input_is_rejected() -> None:
    assert reject(edit(chain_item(), 4, question="How many years before 2000 was that?")).check == "twin_wording"


def test_a_name_that_the_wording_holds_on_to_is_rejected() -> None:
    graph = DictGraph(aliases={"Q903": ("country",)})
    outcome = make_maker(graph=graph).make_twin(chain_item())
    assert isinstance(outcome, Rejected) and outcome.check == "twin_leftover" and "country" in outcome.reason


@pytest.mark.parametrize("item", all_items(), ids=lambda item: item.topology)
def test_provenance_and_checks_say_what_was_done(item: Item) -> None:
    twin = twin_of(item, 7)
    assert twin.provenance.seed == 7 and twin.votes == () and twin.anchor is None
    assert {check.name: check.outcome for check in twin.checks} == dict.fromkeys(
        ("twin_rederives", "twin_leftover", "twin_names"), "pass"
    )
    assert Item.model_validate_json(twin.model_dump_json()) == twin


@pytest.mark.parametrize(
    ("noun", "plain"),
    [
        ("American city", "city"),
        ("commune of France", "commune"),
        ("London borough", "borough"),
        ("football club", "football club"),
        ("Star Trek episode", "episode"),
        ("work of art", "work of art"),
        ("Olympics", "Olympics"),
    ],
)
def test_nouns_lose_what_ties_them_to_the_real_world(noun: str, plain: str) -> None:
    assert strip_proper(noun) == plain
