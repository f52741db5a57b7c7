"""Questions that can be answered by another way."""

from __future__ import annotations

import copy
import re

from tests.faults.planting import each_hop, fault


@fault("concatenation")
def sub_questions_strung_together(row, graph):
    hops = row["single_hop"]
    for first in hops[:-1]:
        if len(first["question"].split()) > 4:
            rest = hops[-1]["question"]
            yield row | {"multi_hop_question": f"{first['question'][:-1]}, and {rest[:1].lower()}{rest[1:]}"}


@fault("list")
def list_of_steps(row, graph):
    text = row["multi_hop_question"]
    rest = text[:1].lower() + text[1:]
    yield row | {"multi_hop_question": f"First, look at the facts, and then say: {rest}"}
    yield row | {"multi_hop_question": f"(1) Look at the facts. (2) Say: {rest}"}
    yield row | {"multi_hop_question": f"Look at the facts; think; {rest}"}


@fault("named-twice")
def entity_named_twice(row, graph):
    for hop in row["single_hop"]:
        for triplet in hop["evidence"]["triplets"]:
            label = triplet["subject_label"]
            if triplet["subject"] == hop["derivation"]["subject"] and label[:1].isupper():  # `osmium` is no name
                again = f", as told of {label} and of {label}?"  # beside a list of its like, two may be due
                yield row | {"multi_hop_question": row["multi_hop_question"][:-1] + again}


@fault("every-hop-needed", needs_graph=True)
def hop_that_cancels_out(row, graph):
    last = row["single_hop"][-1]
    if last["answer_type"] == "number" and last["derivation"]["op"] == "compute":
        sums = " + ".join(f"hop{index} - hop{index}" for index in last["depends_on"])
        numbers = all(row["single_hop"][index - 1]["answer_type"] == "number" for index in last["depends_on"])
        if numbers:
            last["derivation"]["expression"] = f"{last['answer'].replace(',', '')} + {sums}"
            yield row


@fault("last-hop-alone", needs_graph=True)
def last_hop_that_tells_all(row, graph):
    last = row["single_hop"][-1]
    derivation = last["derivation"]
    if derivation["op"] == "reverse_lookup" and last["depends_on"]:
        for property, value in graph.out_edges(last["answer_id"]):
            if graph.subjects(property, value) == (last["answer_id"],):
                derivation["constraints"] = [*derivation["constraints"], {"property": property, "value": value}]
                yield row
                return


@fault("comparison")
def unlike_units(row, graph):
    for faulty, hop in each_hop(row):
        expression = hop["derivation"]["expression"] or ""
        inputs = [one for one in faulty["single_hop"] if one["index"] in hop["depends_on"] and one["unit"]]
        if len(inputs) == 2 and re.search(r"hop\d [+-] hop\d", expression):
            inputs[0]["unit"] = "metres"
            yield faulty


@fault("comparison", needs_graph=True)
def entity_of_another_kind_compared(row, graph):
    """A country among persons that are compared, a person among anything else."""
    for faulty, hop in each_hop(row):
        expression = hop["derivation"]["expression"] or ""
        if expression.startswith(("argmax(P", "argmin(P")) and "all(" not in expression:
            wanted = "Q6256" if "Q5" in graph.objects(hop["answer_id"], "P31") else "Q5"
            stranger = next(id for id in graph.entities() if wanted in graph.objects(id, "P31"))
            hop["derivation"]["expression"] = re.sub(r"\w+(\)+)$", rf"{stranger}\1", expression)
            yield faulty


@fault("inputs-shown")
def input_not_shown(row, graph):
    answers = {hop["index"]: hop["answer"] for hop in row["single_hop"]}
    for faulty, hop in each_hop(row):
        for index in hop["depends_on"]:
            changed = copy.deepcopy(faulty)
            target = changed["single_hop"][hop["index"] - 1]
            target["question"] = target["question"].replace(answers[index], "that")
            if target["question"] != hop["question"]:
                yield changed


@fault("names-kept")
def name_dropped_from_the_question(row, graph):
    for hop in row["single_hop"]:
        subject = hop["derivation"]["subject"] or ""
        if subject.startswith("Q"):
            label = graph.label(subject)
            yield row | {"multi_hop_question": row["multi_hop_question"].replace(label, "something")}


@fault("names-kept")
def number_dropped_from_the_question(row, graph):
    for hop in row["single_hop"]:
        for number in re.findall(r"(?<![\w.])\d{3,}(?![\w.])", hop["derivation"]["expression"] or ""):
            if number in row["multi_hop_question"]:
                yield row | {"multi_hop_question": row["multi_hop_question"].replace(number, "a number")}
