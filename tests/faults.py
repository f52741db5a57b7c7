"""Planting faults in good items: each kind is a function from an item to its faulty release rows, and who must notice.

Faults are planted in release rows, where an auditor meets them. A fault that an item has no place for gives nothing.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hopwright.graph.store import GraphStore
from hopwright.records import LABELS, Item
from hopwright.release.format import to_release

Row = dict[str, Any]
_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")
_PLANTERS: dict[str, tuple[Callable[[Row, GraphStore], Iterator[Row]], tuple[str, ...], bool]] = {}


@dataclass(frozen=True)
class Fault:
    """A faulty row; at least one of `checks` must name it, and without a graph too unless `needs_graph`."""

    kind: str
    row: Row
    checks: tuple[str, ...]
    needs_graph: bool


def kinds() -> tuple[str, ...]:
    """The names of all kinds of faults."""
    return tuple(_PLANTERS)


def plant_faults(item: Item, graph: GraphStore) -> Iterator[Fault]:
    """Every fault that can be planted in an item, one at a time."""
    row = to_release(item)
    for kind, (planter, checks, needs_graph) in _PLANTERS.items():
        for faulty in planter(copy.deepcopy(row), graph):
            yield Fault(kind, copy.deepcopy(faulty), checks, needs_graph)


def _fault(*checks: str, needs_graph: bool = False):
    def register(planter):
        _PLANTERS[planter.__name__] = (planter, checks, needs_graph)
        return planter

    return register


def _each_hop(row: Row) -> Iterator[tuple[Row, Row]]:
    """(a copy of the row, one of its hops), hop by hop."""
    for position in range(len(row["single_hop"])):
        faulty = copy.deepcopy(row)
        yield faulty, faulty["single_hop"][position]


def _copy_to_item(row: Row) -> Row:
    last = row["single_hop"][-1]
    row["multiple_choice_options"] = dict(last["multiple_choice_options"])
    row["correct_answer_label"] = last["correct_answer_label"]
    row["multi_hop_answer"] = last["answer"]
    return row


def _swap_option(row: Row, hop: Row, old: str, new: str) -> Row:
    """Replace the text of a distractor and of its option."""
    for distractor in hop["distractors"]:
        if distractor["text"] == old:
            distractor.update(text=new, id=None)
    options = hop["multiple_choice_options"]
    hop["multiple_choice_options"] = {label: new if text == old else text for label, text in options.items()}
    return _copy_to_item(row)


# ---------------------------------------------------------------- leaks


@_fault("leakage")
def leaked_answer(row, graph):
    for hop in row["single_hop"]:
        yield row | {"multi_hop_question": row["multi_hop_question"][:-1] + f", given that it is {hop['answer']}?"}


@_fault("leakage")
def leaked_answer_in_capitals(row, graph):
    for hop in row["single_hop"]:
        if hop["answer_type"] == "entity":
            yield row | {"multi_hop_question": row["multi_hop_question"][:-1] + f", not {hop['answer'].upper()}?"}


@_fault("leakage", needs_graph=True)
def leaked_alias(row, graph):
    for hop in row["single_hop"]:
        for alias in graph.aliases(hop["answer_id"] or "")[:1]:
            if len(alias) > 4 and alias[0].isupper():
                yield row | {"multi_hop_question": row["multi_hop_question"][:-1] + f", that is, {alias}?"}


@_fault("self-answer")
def answer_in_its_own_question(row, graph):
    for faulty, hop in _each_hop(row):
        if not (hop["derivation"]["expression"] or "").startswith("arg"):
            hop["question"] = hop["question"][:-1] + f", {hop['answer']}?"
            yield faulty


# ---------------------------------------------------------------- wrong answers


@_fault("recomputation")
def wrong_sum(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["answer_type"] == "number" and hop["derivation"]["op"] == "compute":
            right = hop["answer"]
            wrong = str(Decimal(right.replace(",", "")) + 7)
            hop["answer"] = wrong
            options = hop["multiple_choice_options"]
            hop["multiple_choice_options"] = {k: wrong if v == right else v for k, v in options.items()}
            yield _copy_to_item(faulty)


@_fault("recomputation")
def wrong_intermediate_answer(row, graph):
    """An entity answer replaced, id and all, by one of its distractors; the rest stays."""
    for faulty, hop in _each_hop(row):
        other = next((one for one in hop["distractors"] if one["id"]), None)
        if hop["answer_type"] == "entity" and other is not None:
            label = next(k for k, v in hop["multiple_choice_options"].items() if v == other["text"])
            hop["distractors"][hop["distractors"].index(other)] = {
                "text": hop["answer"], "kind": "sibling", "id": hop["answer_id"],
            }  # fmt: skip
            hop.update(answer=other["text"], answer_id=other["id"], correct_answer_label=label)
            yield _copy_to_item(faulty)


@_fault("evidence", "evidence-in-graph")
def answer_by_another_name(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["answer_type"] == "entity" and hop["evidence"]["triplets"]:
            yield _rename_answer(faulty, hop)


def _rename_answer(row: Row, hop: Row) -> Row:
    old, new = hop["answer"], hop["answer"] + " II"
    hop["answer"] = new
    options = hop["multiple_choice_options"]
    hop["multiple_choice_options"] = {k: new if v == old else v for k, v in options.items()}
    return _copy_to_item(row)


@_fault("schema")
def number_that_is_no_number(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["answer_type"] == "number":
            hop["answer"] = f"about {hop['answer']}"
            yield _copy_to_item(faulty)


@_fault("recomputation")
def number_without_its_form(row, graph):
    """A year with a thousands separator, or a zero in front of a number."""
    for faulty, hop in _each_hop(row):
        if hop["answer_type"] == "number":
            right = hop["answer"]
            wrong = f"{int(right):,}" if hop["unit"] == "year" else f"0{right}"
            hop["answer"] = wrong
            options = hop["multiple_choice_options"]
            hop["multiple_choice_options"] = {k: wrong if v == right else v for k, v in options.items()}
            yield _copy_to_item(faulty)


# ---------------------------------------------------------------- plan and evidence


@_fault("evidence", "recomputation")
def changed_triplet(row, graph):
    for faulty, hop in _each_hop(row):
        for triplet in hop["evidence"]["triplets"][:1] if hop["derivation"]["op"] != "compute" else ():
            triplet["object"] = "Q999999991"
            yield faulty


@_fault("recomputation", "evidence")
def changed_literal(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["derivation"]["op"] == "lookup":
            for literal in hop["evidence"]["literals"][:1]:
                literal["value"] = "1444-01-01T00:00:00Z" if literal["datatype"] == "dateTime" else "+123456789"
                yield faulty


@_fault("evidence", "recomputation")
def missing_evidence(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["evidence"]["triplets"] or hop["evidence"]["literals"]:
            own = copy.deepcopy(hop["evidence"])
            hop["evidence"].update(triplets=[], literals=[])
            others = [one["evidence"] for one in faulty["single_hop"]]
            held = [fact for one in others for fact in (*one["triplets"], *one["literals"])]
            if hop["derivation"]["op"] != "compute" or not all(
                fact in held for fact in (*own["triplets"], *own["literals"])
            ):
                yield faulty


@_fault("evidence-in-graph", needs_graph=True)
def invented_fact(row, graph):
    """A triplet that the graph does not hold, beside the right ones."""
    for faulty, hop in _each_hop(row):
        for triplet in hop["evidence"]["triplets"][:1]:
            hop["evidence"]["triplets"].append(triplet | {"property": "P9999"})
            yield faulty


@_fault("recomputation", "dependencies")
def swapped_operands(row, graph):
    for faulty, hop in _each_hop(row):
        left, sign, right = (hop["derivation"]["expression"] or "").partition(" - ")
        if sign and "(" not in left + right:
            hop["derivation"]["expression"] = f"{right} - {left}"
            yield faulty


@_fault("recomputation")
def wrong_operation(row, graph):
    for faulty, hop in _each_hop(row):
        expression = hop["derivation"]["expression"] or ""
        changed = (
            expression.replace(" - ", " + ") if " - " in expression
            else expression.replace("argmax", "argmin") if "argmax" in expression
            else expression.replace("argmin", "argmax")
        )  # fmt: skip
        if changed != expression:
            hop["derivation"]["expression"] = changed
            yield faulty


@_fault("recomputation")
def forbidden_expression(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["derivation"]["op"] == "compute":
            hop["derivation"]["expression"] += " ** 2"
            yield faulty


@_fault("identity")
def id_of_another_plan(row, graph):
    yield row | {"id": "hw-0123456789abcdef"}


@_fault("dependencies")
def dangling_dependency(row, graph):
    """A hop that no later hop uses: its reader asks for the fact of a constant instead."""
    for faulty, hop in _each_hop(row):
        if hop["derivation"]["op"] == "lookup" and hop["depends_on"]:
            hop["derivation"]["subject"] = "Q42"
            hop["depends_on"] = []
            yield faulty


@_fault("dependencies")
def unstated_dependency(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["depends_on"]:
            hop["depends_on"] = hop["depends_on"][1:]
            yield faulty


@_fault("dependencies")
def cycle(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["index"] < len(row["single_hop"]):
            hop["depends_on"] = [hop["index"] + 1]
            yield faulty


@_fault("schema")
def wrong_motif(row, graph):
    for motif in ("Chain", "Converging", "Bridge", "Ring"):
        if motif != row["motif_type"]:
            yield row | {"motif_type": motif}


@_fault("dependencies")
def wrong_topology(row, graph):
    for name, motif in (("chain", "Chain"), ("converging", "Converging"), ("bridge", "Bridge")):
        if name != row["topology"]:
            yield row | {"topology": name, "motif_type": motif}


@_fault("schema")
def extra_hop(row, graph):
    row["single_hop"].append(copy.deepcopy(row["single_hop"][0]))
    yield row


@_fault("schema")
def dropped_hop(row, graph):
    for position in range(4):
        yield row | {"single_hop": [hop for i, hop in enumerate(row["single_hop"]) if i != position]}


@_fault("schema")
def swapped_hops(row, graph):
    hops = row["single_hop"]
    yield row | {"single_hop": [hops[1], hops[0], *hops[2:]]}


@_fault("computing-hop")
def no_computing_hop(row, graph):
    for hop in row["single_hop"]:
        if hop["derivation"]["op"] == "compute":
            subject = f"hop{hop['depends_on'][0]}" if hop["depends_on"] else "Q42"
            hop["derivation"] = {"op": "lookup", "subject": subject, "property": "P36"}
    yield row


@_fault("repetition")
def repeated_entity(row, graph):
    looked_up = [hop for hop in row["single_hop"] if hop["answer_type"] == "entity"]
    lookups = [hop for hop in looked_up if hop["derivation"]["op"] != "compute"]
    if len(lookups) >= 2:
        lookups[1].update(answer=lookups[0]["answer"], answer_id=lookups[0]["answer_id"])
        yield row


@_fault("domains")
def single_domain(row, graph):
    for hop in row["single_hop"]:
        hop["domain"] = "Sports and Games"
    yield row


@_fault("units", "recomputation")
def missing_unit(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["unit"]:
            hop["unit"] = ""
            yield faulty


@_fault("schema")
def missing_field(row, graph):
    for field in ("id", "single_hop", "multi_hop_question", "multi_hop_answer", "multiple_choice_options",
                  "correct_answer_label", "motif_type"):  # fmt: skip
        yield {key: value for key, value in row.items() if key != field}
    for field in ("question", "answer", "multiple_choice_options", "correct_answer_label", "derivation", "domain"):
        for faulty, hop in _each_hop(row):
            del hop[field]
            yield faulty


@_fault("schema")
def field_of_another_type(row, graph):
    yield row | {"multi_hop_question": None}
    yield row | {"multi_hop_answer": 95}
    yield row | {"multiple_choice_options": ["a", "b", "c", "d"]}
    yield row | {"single_hop": "none"}
    yield row | {"correct_answer_label": "E"}


@_fault("schema")
def empty_field(row, graph):
    yield row | {"multi_hop_question": " "}
    for faulty, hop in _each_hop(row):
        hop["question"] = ""
        yield faulty


@_fault("schema")
def final_answer_of_another_item(row, graph):
    yield row | {"multi_hop_answer": "Somewhere else"}


# ---------------------------------------------------------------- options


@_fault("options")
def wrong_label(row, graph):
    right = row["correct_answer_label"]
    yield row | {"correct_answer_label": LABELS[(LABELS.index(right) + 1) % 4]}
    for faulty, hop in _each_hop(row):
        hop["correct_answer_label"] = LABELS[(LABELS.index(hop["correct_answer_label"]) + 2) % 4]
        yield faulty


@_fault("options")
def options_without_the_answer(row, graph):
    for faulty, hop in _each_hop(row):
        hop["multiple_choice_options"][hop["correct_answer_label"]] = "1,234,567" if hop["unit"] else "Nowhere"
        yield _copy_to_item(faulty) | {"multi_hop_answer": row["multi_hop_answer"]}


@_fault("options", "distractors")
def duplicated_options(row, graph):
    for faulty, hop in _each_hop(row):
        first, second = hop["distractors"][:2]
        yield _swap_option(faulty, hop, second["text"], first["text"])


@_fault("options", "distractors")
def options_equal_but_for_case(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["answer_type"] == "entity":
            yield _swap_option(faulty, hop, hop["distractors"][1]["text"], hop["distractors"][0]["text"].upper())


@_fault("options", "distractors")
def answer_twice_as_a_number(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["answer_type"] == "number":
            yield _swap_option(faulty, hop, hop["distractors"][0]["text"], f"0{hop['answer']}")


@_fault("options")
def three_options(row, graph):
    for faulty, hop in _each_hop(row):
        wrong = next(label for label in LABELS if label != hop["correct_answer_label"])
        del hop["multiple_choice_options"][wrong]
        yield _copy_to_item(faulty)


@_fault("options")
def options_of_another_hop(row, graph):
    first = row["single_hop"][0]
    yield row | {
        "multiple_choice_options": dict(first["multiple_choice_options"]),
        "correct_answer_label": first["correct_answer_label"],
    }


@_fault("distractors")
def missing_distractor(row, graph):
    for faulty, hop in _each_hop(row):
        hop["distractors"] = hop["distractors"][:2]
        yield faulty


@_fault("distractors")
def distractor_of_another_type(row, graph):
    for faulty, hop in _each_hop(row):
        wrong = "1905" if hop["answer_type"] == "entity" else "Nilsby Town"
        if wrong not in hop["multiple_choice_options"].values():
            yield _swap_option(faulty, hop, hop["distractors"][0]["text"], wrong)


@_fault("distractors")
def distractor_of_another_precision(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["answer_type"] == "number":
            text = hop["distractors"][0]["text"]
            yield _swap_option(faulty, hop, text, text + ".5")


@_fault("distractors", needs_graph=True)
def distractor_that_is_an_alias(row, graph):
    for faulty, hop in _each_hop(row):
        for alias in graph.aliases(hop["answer_id"] or "")[:1]:
            yield _swap_option(faulty, hop, hop["distractors"][0]["text"], alias)


@_fault("distractors-false", "distractors", needs_graph=True)
def distractor_with_another_id(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["answer_id"]:
            hop["distractors"][0]["id"] = hop["answer_id"]
            yield faulty


@_fault("distractors-shown")
def number_of_the_question_among_the_options(row, graph):
    for faulty, hop in _each_hop(row):
        for source in faulty["single_hop"]:
            numbers = source["answer_type"] == hop["answer_type"] == "number"
            text, options = source["answer"], hop["multiple_choice_options"].values()
            if numbers and source["index"] in hop["depends_on"] and text in hop["question"] and text not in options:
                yield _swap_option(faulty, hop, hop["distractors"][0]["text"], text)
                break


@_fault("distractors-shown")
def name_of_the_question_among_the_options(row, graph):
    for faulty, hop in _each_hop(row):
        subject = hop["derivation"]["subject"] or ""
        if hop["answer_type"] == "entity" and subject.startswith("Q"):
            yield _swap_option(faulty, hop, hop["distractors"][0]["text"], graph.label(subject))


# ---------------------------------------------------------------- wording


def _reworded(row: Row, change: Callable[[str], str]) -> Iterator[Row]:
    """The multi-hop question reworded, then each sub-question; only where the change changes something."""
    if change(row["multi_hop_question"]) != row["multi_hop_question"]:
        yield row | {"multi_hop_question": change(row["multi_hop_question"])}
    for faulty, hop in _each_hop(row):
        if change(hop["question"]) != hop["question"]:
            hop["question"] = change(hop["question"])
            yield faulty


@_fault("form")
def unfilled_placeholder(row, graph):
    for placeholder in ("{s}", "hop1", "#2", "Q903", "[ANSWER]"):
        yield from _reworded(row, lambda text, p=placeholder: text[:-1] + f" of {p}?")


@_fault("grammar")
def doubled_word(row, graph):
    yield from _reworded(row, lambda text: text.replace(" the ", " the the ", 1))
    yield from _reworded(row, lambda text: text.replace(" was ", " was was ", 1))


@_fault("grammar")
def unbalanced_quote(row, graph):
    for mark in ('"', "“", "("):
        yield from _reworded(row, lambda text, m=mark: text.replace(" ", f" {m}", 1))


@_fault("form")
def no_question_mark(row, graph):
    yield from _reworded(row, lambda text: text[:-1] + ".")
    yield from _reworded(row, lambda text: text + "?")


@_fault("form")
def double_space(row, graph):
    yield from _reworded(row, lambda text: text.replace(" ", "  ", 1))
    yield from _reworded(row, lambda text: text[:-1] + " ?")


@_fault("grammar")
def wrong_article(row, graph):
    yield from _reworded(row, lambda text: text[:-1] + " in a island?")
    yield from _reworded(row, lambda text: text[:-1] + " in an country?")


@_fault("grammar")
def two_articles(row, graph):
    yield from _reworded(row, lambda text: text.replace(" the ", " the a ", 1))


@_fault("grammar")
def doubled_relative_pronoun(row, graph):
    yield from _reworded(row, lambda text: text[:-1] + " that which is meant?")
    yield from _reworded(row, lambda text: text[:-1] + " whose which is meant?")


@_fault("grammar")
def wrong_preposition(row, graph):
    yield from _reworded(row, lambda text: text.replace(" of ", " in of ", 1))


@_fault("grammar")
def capital_in_the_middle(row, graph):
    yield from _reworded(row, lambda text: re.sub(r" the (?=[a-z])", " The ", text, count=1))


@_fault("grammar")
def cut_off(row, graph):
    for word in ("the", "and", "whose"):
        yield from _reworded(row, lambda text, w=word: f"{text[:-1]} {w}?")


@_fault("form")
def lower_case_start(row, graph):
    yield from _reworded(row, lambda text: text[0].lower() + text[1:])


@_fault("time-dependence")
def asked_as_of_today(row, graph):
    yield from _reworded(row, lambda text: text[:-1] + " today?")
    yield from _reworded(row, lambda text: text.replace(" the ", " the current ", 1))
    yield from _reworded(row, lambda text: text[:-1] + " as of this writing?")
    yield from _reworded(row, lambda text: text[:-1] + " before the incumbent?")


@_fault("undated")
def value_that_changes(row, graph):
    for faulty, hop in _each_hop(row):
        if hop["derivation"]["op"] == "lookup" and not _YEAR.search(hop["question"]):
            hop["derivation"]["property"] = "P1082" if hop["answer_type"] == "number" else "P6"
            yield faulty


# ---------------------------------------------------------------- shortcuts


@_fault("concatenation")
def sub_questions_strung_together(row, graph):
    hops = row["single_hop"]
    for first in hops[:-1]:
        if len(first["question"].split()) > 4:
            rest = hops[-1]["question"]
            yield row | {"multi_hop_question": f"{first['question'][:-1]}, and {rest[:1].lower()}{rest[1:]}"}


@_fault("list")
def list_of_steps(row, graph):
    text = row["multi_hop_question"]
    rest = text[:1].lower() + text[1:]
    yield row | {"multi_hop_question": f"First, look at the facts, and then say: {rest}"}
    yield row | {"multi_hop_question": f"(1) Look at the facts. (2) Say: {rest}"}
    yield row | {"multi_hop_question": f"Look at the facts; think; {rest}"}


@_fault("named-twice")
def entity_named_twice(row, graph):
    for hop in row["single_hop"]:
        for triplet in hop["evidence"]["triplets"]:
            if triplet["subject"] == hop["derivation"]["subject"]:
                label = triplet["subject_label"]
                yield row | {"multi_hop_question": row["multi_hop_question"][:-1] + f", as told of {label}?"}


@_fault("every-hop-needed", needs_graph=True)
def hop_that_cancels_out(row, graph):
    last = row["single_hop"][-1]
    if last["answer_type"] == "number" and last["derivation"]["op"] == "compute":
        sums = " + ".join(f"hop{index} - hop{index}" for index in last["depends_on"])
        numbers = all(row["single_hop"][index - 1]["answer_type"] == "number" for index in last["depends_on"])
        if numbers:
            last["derivation"]["expression"] = f"{last['answer'].replace(',', '')} + {sums}"
            yield row


@_fault("last-hop-alone", needs_graph=True)
def last_hop_that_tells_all(row, graph):
    last = row["single_hop"][-1]
    derivation = last["derivation"]
    if derivation["op"] == "reverse_lookup" and last["depends_on"]:
        for property, value in graph.out_edges(last["answer_id"]):
            if graph.subjects(property, value) == (last["answer_id"],):
                derivation["constraints"] = [*derivation["constraints"], {"property": property, "value": value}]
                yield row
                return


@_fault("comparison")
def unlike_units(row, graph):
    for faulty, hop in _each_hop(row):
        expression = hop["derivation"]["expression"] or ""
        inputs = [one for one in faulty["single_hop"] if one["index"] in hop["depends_on"] and one["unit"]]
        if len(inputs) == 2 and re.search(r"hop\d [+-] hop\d", expression):
            inputs[0]["unit"] = "metres"
            yield faulty


@_fault("comparison", needs_graph=True)
def person_compared_with_a_country(row, graph):
    for faulty, hop in _each_hop(row):
        match = re.match(r"(arg(?:max|min)\(P\d+, )(\w+), (\w+)\)", hop["derivation"]["expression"] or "")
        person = next((id for id in graph.entities() if "Q5" in graph.objects(id, "P31")), None)
        if match and person:
            hop["derivation"]["expression"] = f"{match[1]}{match[2]}, {person})"
            yield faulty


@_fault("inputs-shown")
def input_not_shown(row, graph):
    answers = {hop["index"]: hop["answer"] for hop in row["single_hop"]}
    for faulty, hop in _each_hop(row):
        for index in hop["depends_on"]:
            changed = copy.deepcopy(faulty)
            target = changed["single_hop"][hop["index"] - 1]
            target["question"] = target["question"].replace(answers[index], "that")
            if target["question"] != hop["question"]:
                yield changed


@_fault("names-kept")
def name_dropped_from_the_question(row, graph):
    for hop in row["single_hop"]:
        subject = hop["derivation"]["subject"] or ""
        if subject.startswith("Q"):
            label = graph.label(subject)
            yield row | {"multi_hop_question": row["multi_hop_question"].replace(label, "something")}


@_fault("names-kept")
def number_dropped_from_the_question(row, graph):
    if "2000" in row["multi_hop_question"]:
        yield row | {"multi_hop_question": row["multi_hop_question"].replace("2000", "the millennium")}


# ---------------------------------------------------------------- votes and worlds


@_fault("votes")
def vote_marked_wrongly(row, graph):
    vote = {"model": "prior", "option": row["correct_answer_label"], "probabilities": [], "right": False}
    yield row | {"votes": [vote]}


@_fault("votes")
def impossible_probabilities(row, graph):
    vote = {"model": "prior", "option": row["correct_answer_label"], "probabilities": [0.9, 0.9, 0, 0], "right": True}
    yield row | {"votes": [vote]}
    yield row | {"votes": [vote | {"probabilities": []}] * 2}


@_fault("world")
def surrogates_in_a_factual_item(row, graph):
    yield row | {"world": [{"original": "Vestmark", "surrogate": "Ruland", "id": "Q903"}]}


@_fault("surrogates", "identity", needs_graph=True)
def twin_with_known_names(row, graph):
    """A factual item that passes itself off as a counterfactual one."""
    world = [{"original": "Velmora", "surrogate": "Vestmark", "id": "QX1_a"}]
    yield row | {"variant": "counterfactual", "twin": "hw-0", "world": world}
