"""Answers that leak, and answers that are wrong."""

from __future__ import annotations

from decimal import Decimal

from tests.faults.planting import Row, copy_to_item, each_hop, fault


def _list_hidden(row: Row) -> list[Row]:
    """The hops whose answer the question does not name; one that is chosen of those named stands in it rightly."""
    return [hop for hop in row["single_hop"] if hop["answer"] not in row["multi_hop_question"]]


@fault("leakage")
def leaked_answer(row, graph):
    for hop in _list_hidden(row):
        yield row | {"multi_hop_question": row["multi_hop_question"][:-1] + f", given that it is {hop['answer']}?"}


@fault("leakage")
def leaked_answer_in_capitals(row, graph):
    for hop in _list_hidden(row):
        if hop["answer_type"] == "entity":
            yield row | {"multi_hop_question": row["multi_hop_question"][:-1] + f", not {hop['answer'].upper()}?"}


@fault("leakage", needs_graph=True)
def leaked_alias(row, graph):
    for hop in _list_hidden(row):
        for alias in graph.aliases(hop["answer_id"] or "")[:1]:
            if len(alias) > 4 and alias[0].isupper():
                yield row | {"multi_hop_question": row["multi_hop_question"][:-1] + f", that is, {alias}?"}


@fault("self-answer")
def answer_in_its_own_question(row, graph):
    for faulty, hop in each_hop(row):
        if not (hop["derivation"]["expression"] or "").startswith("arg"):
            hop["question"] = hop["question"][:-1] + f", {hop['answer']}?"
            yield faulty


@fault("recomputation")
def wrong_sum(row, graph):
    for faulty, hop in each_hop(row):
        if hop["answer_type"] == "number" and hop["derivation"]["op"] == "compute":
            right = hop["answer"]
            wrong = str(Decimal(right.replace(",", "")) + 7)
            hop["answer"] = wrong
            options = hop["multiple_choice_options"]
            hop["multiple_choice_options"] = {k: wrong if v == right else v for k, v in options.items()}
            yield copy_to_item(faulty)


@fault("recomputation")
def wrong_intermediate_answer(row, graph):
    """An entity answer replaced, id and all, by one of its distractors; the rest stays."""
    for faulty, hop in each_hop(row):
        other = next((one for one in hop["distractors"] if one["id"]), None)
        if hop["answer_type"] == "entity" and other is not None:
            label = next(k for k, v in hop["multiple_choice_options"].items() if v == other["text"])
            hop["distractors"][hop["distractors"].index(other)] = {
                "text": hop["answer"], "kind": "sibling", "id": hop["answer_id"],
            }  # fmt: skip
            hop.update(answer=other["text"], answer_id=other["id"], correct_answer_label=label)
            yield copy_to_item(faulty)


@fault("evidence", "evidence-in-graph")
def answer_by_another_name(row, graph):
    for faulty, hop in each_hop(row):
        if hop["answer_type"] == "entity" and hop["evidence"]["triplets"]:
            yield _rename_answer(faulty, hop)


def _rename_answer(row: Row, hop: Row) -> Row:
    old, new = hop["answer"], hop["answer"] + " II"
    hop["answer"] = new
    options = hop["multiple_choice_options"]
    hop["multiple_choice_options"] = {k: new if v == old else v for k, v in options.items()}
    return copy_to_item(row)


@fault("schema")
def number_that_is_no_number(row, graph):
    for faulty, hop in each_hop(row):
        if hop["answer_type"] == "number":
            hop["answer"] = f"about {hop['answer']}"
            yield copy_to_item(faulty)


@fault("recomputation")
def number_without_its_form(row, graph):
    """A year with a thousands separator, or a zero in front of a number."""
    for faulty, hop in each_hop(row):
        if hop["answer_type"] == "number":
            right = hop["answer"]
            wrong = f"{int(right):,}" if hop["unit"] == "year" else f"0{right}"
            hop["answer"] = wrong
            options = hop["multiple_choice_options"]
            hop["multiple_choice_options"] = {k: wrong if v == right else v for k, v in options.items()}
            yield copy_to_item(faulty)
