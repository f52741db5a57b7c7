import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.difficulty.shortcuts import LastHopOnly, LexicalOverlap, OptionsOnly, PopularityPrior, shortcut_voters
from hopwright.difficulty.voters import Voter, VoterQuestion, to_probabilities, view, vote
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import LABELS, Compute, Domain, Item, Lookup
from tests.builders import TRIPLETS, all_items, bridge_item, converging_item
from tests.worlds import DictGraph

TABLE = default_table()


def ensemble(seed: int = 0) -> list[Voter]:
    return shortcut_voters(DictGraph(), TABLE, seed=seed)


def rotate(item: Item, by: int) -> Item:
    """The same item with its options under other letters."""
    texts = [item.options[label] for label in LABELS]
    options = dict(zip(LABELS, texts[by:] + texts[:by], strict=True))
    label = next(label for label, text in options.items() if text == item.answer)
    return item.model_copy(update={"options": options, "label": label})


def choice(
    options: tuple[str, str, str, str], relation, answer_type="number", unit="", entities=(None,) * 4, question="?"
) -> VoterQuestion:
    return VoterQuestion("k", question, options, entities, relation, Domain.HISTORY, answer_type, unit)


@pytest.mark.parametrize("item", all_items(), ids=lambda item: item.topology)
def test_votes_carry_probabilities_and_are_judged_afterwards(item: Item) -> None:
    for voter in ensemble():
        (cast,) = vote(voter, [item])
        assert cast.model == voter.name
        assert sum(cast.probabilities) == pytest.approx(1, abs=1e-9) and min(cast.probabilities) >= 0
        assert cast.option == LABELS[cast.probabilities.index(max(cast.probabilities))]
        assert cast.right == (cast.option == item.label)


@given(st.sampled_from(all_items()), st.integers(0, 3), st.integers(0, 50))
def test_letters_have_no_influence(item: Item, by: int, seed: int) -> None:
    for voter in ensemble(seed):
        (one,), (other,) = vote(voter, [item]), vote(voter, [rotate(item, by)])
        assert item.options[one.option] == rotate(item, by).options[other.option]


@given(st.sampled_from(all_items()), st.integers(0, 3))
def test_a_voter_is_never_told_which_option_is_right(item: Item, which: int) -> None:
    wrong = LABELS[which]
    lied = item.model_copy(update={"label": wrong, "answer": item.options[wrong]})
    assert view(lied) == view(item)
    for voter in ensemble():
        (one,), (other,) = vote(voter, [item]), vote(voter, [lied])
        assert (one.option, one.probabilities) == (other.option, other.probabilities)


def test_one_known_id_among_unknown_ones_is_hidden_for_it_would_be_the_answers() -> None:
    last = converging_item().hops[-1]
    assert last.answer_id and any(distractor.id is None for distractor in last.distractors)
    assert view(converging_item()).entities == (None,) * 4


def test_batches_do_not_change_votes() -> None:
    for voter in ensemble():
        assert vote(voter, all_items()) == [vote(voter, [item])[0] for item in all_items()]


@given(st.integers(0, 10**6))
def test_ties_are_broken_by_the_key_and_all_options_win_some(seed: int) -> None:
    options = ("a", "b", "c", "d")
    won: Counter[int] = Counter()
    for key in range(60):
        spread = to_probabilities([1.0] * 4, options, seed=seed, voter="v", key=f"{seed}:{key}")
        assert spread == to_probabilities([1.0] * 4, options, seed=seed, voter="v", key=f"{seed}:{key}")
        assert max(spread) - min(spread) < 0.001 and sum(spread) == pytest.approx(1)
        won[spread.index(max(spread))] += 1
    assert len(won) == 4


def best(voter: Voter, one: VoterQuestion) -> str:
    (spread,) = voter.choose([one])
    return one.options[spread.index(max(spread))]


def test_popularity_prefers_what_the_graph_knows_best() -> None:
    voter = PopularityPrior(DictGraph(), TABLE, seed=0)
    lookup = Lookup(subject="hop3", property="P27")
    entities = ("Q903", "Q909", "Q905", "Q910")
    degrees = Counter(end for s, _, o in TRIPLETS for end in (s, o))
    names = ("Vestmark", "Iria", "Karelund", "Nilsby")
    top = max(degrees[id] for id in entities)
    chosen = best(voter, choice(names, lookup, "entity", entities=entities))
    assert degrees[entities[names.index(chosen)]] == top
    assert best(voter, choice(("1,234", "1,000", "1,237", "1,189"), lookup)) == "1,000"
    assert best(voter, choice(("1904", "1905", "1906", "1907"), lookup, unit="year")) == "1905"


def test_overlap_finds_the_option_that_the_question_is_about() -> None:
    voter = LexicalOverlap(DictGraph(), seed=0)
    lookup = Lookup(subject="hop3", property="P57")
    names = ("Ada Lindqvist", "Tomas Ferreira", "Port Sabel", "Nilsby")
    entities = ("Q902", "Q907", "Q908", "Q910")
    asked = choice(names, lookup, "entity", entities=entities, question="Who directed Glass Meridian?")
    assert best(voter, asked) == "Tomas Ferreira"
    assert best(voter, choice(names, lookup, "entity", question="What lies near Port Sabel?")) == "Port Sabel"


def test_options_only_takes_the_centre() -> None:
    voter = OptionsOnly(seed=0)
    relation = Compute(expression="1 + 1", kind="arithmetic")
    assert best(voter, choice(("130", "131", "120", "140"), relation)) == "130"
    assert best(voter, choice(("7", "500", "505", "510"), relation)) == "505"
    names = ("Port Sabel", "Port Saber", "Porto Sabel", "Nilsby")
    assert best(voter, choice(names, relation, "entity")) != "Nilsby"


def test_last_hop_only_follows_the_relation() -> None:
    voter = LastHopOnly(DictGraph(), TABLE, seed=0)
    names, ids = ("Vestmark", "Iria", "Karelund", "Nilsby"), ("Q903", "Q909", "Q905", "Q910")
    largest = Compute(expression="argmax(P2046, hop1, hop2)", kind="comparison")
    smallest = Compute(expression="argmin(P2046, hop1, hop2)", kind="comparison")
    assert best(voter, choice(names, largest, "entity", entities=ids)) == "Vestmark"
    assert best(voter, choice(names, smallest, "entity", entities=ids)) == "Karelund"
    lookup = Lookup(subject="hop3", property="P27")
    assert best(voter, choice(names, lookup, "entity", entities=ids)) in ("Vestmark", "Iria")
    founded = Lookup(subject="hop3", property="P571")
    assert best(voter, choice(("1500", "1899", "1700", "2020"), founded, unit="year")) == "1899"
    ways = Compute(expression="comb(hop1, 2)", kind="combinatorics")
    assert best(voter, choice(("4,005", "4,006", "4,011", "3,999"), ways)) == "4,005"


def test_every_kind_of_last_hop_gets_four_finite_scores() -> None:
    kinds = ("comparison", "counting", "arithmetic", "temporal", "combinatorics")
    computed = [Compute(expression="hop1 - 1", kind=kind) for kind in kinds]
    for relation in (Lookup(subject="hop1", property="P571"), *computed):
        for answer_type, options in (
            ("number", ("0", "1,000", "-3", "2.5")),
            ("date", ("1 January 1990", "3 July 1990", "4 July 1990", "5 May 1800")),
            ("string", ("a", "b", "c", "d")),
        ):
            for voter in ensemble():
                (spread,) = voter.choose([choice(options, relation, answer_type)])
                assert len(spread) == 4 and sum(spread) == pytest.approx(1)


def test_a_vote_is_plain_data() -> None:
    (cast,) = vote(ensemble()[0], [bridge_item()])
    assert json.loads(cast.model_dump_json())["model"] == "popularity-prior"
