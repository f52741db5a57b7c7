"""Plans and evidence that do not hold."""

from __future__ import annotations

import copy
import re

from tests.faults.planting import each_hop, fault

_TURNED = {"argmin": "argmax", "argmax": "argmin", "after": "before", "before": "after"}


@fault("evidence", "recomputation")
def changed_triplet(row, graph):
    for faulty, hop in each_hop(row):
        # Of what a date rests on besides, who photographed a film say, only a graph could tell that it is wrong.
        asked = [one for one in hop["evidence"]["triplets"] if one["property"] == hop["derivation"].get("property")]
        for triplet in asked[:1] if hop["derivation"]["op"] != "compute" else ():
            # Another hop may rest on the same fact: who won the race before the first that somebody else won.
            fact = [triplet[part] for part in ("subject", "property", "object")]
            for one in (one for other in faulty["single_hop"] for one in other["evidence"]["triplets"]):
                if [one[part] for part in ("subject", "property", "object")] == fact:
                    one["object"] = "Q999999991"
            yield faulty


@fault("recomputation", "evidence")
def changed_literal(row, graph):
    for faulty, hop in each_hop(row):
        if hop["derivation"]["op"] == "lookup":
            for literal in hop["evidence"]["literals"][:1]:
                literal["value"] = "1444-01-01T00:00:00Z" if literal["datatype"] == "dateTime" else "+123456789"
                yield faulty


@fault("evidence", "recomputation")
def missing_evidence(row, graph):
    for faulty, hop in each_hop(row):
        if hop["evidence"]["triplets"] or hop["evidence"]["literals"]:
            own = copy.deepcopy(hop["evidence"])
            hop["evidence"].update(triplets=[], literals=[])
            others = [one["evidence"] for one in faulty["single_hop"]]
            held = [fact for one in others for fact in (*one["triplets"], *one["literals"])]
            if hop["derivation"]["op"] != "compute" or not all(
                fact in held for fact in (*own["triplets"], *own["literals"])
            ):
                yield faulty


@fault("evidence-in-graph", needs_graph=True)
def invented_fact(row, graph):
    """A triplet that the graph does not hold, beside the right ones."""
    for faulty, hop in each_hop(row):
        for triplet in hop["evidence"]["triplets"][:1]:
            hop["evidence"]["triplets"].append(triplet | {"property": "P9999"})
            yield faulty


@fault("recomputation", "dependencies")
def swapped_operands(row, graph):
    for faulty, hop in each_hop(row):
        left, sign, right = (hop["derivation"]["expression"] or "").partition(" - ")
        if sign and "(" not in left + right:
            hop["derivation"]["expression"] = f"{right} - {left}"
            yield faulty


@fault("recomputation")
def wrong_operation(row, graph):
    for faulty, hop in each_hop(row):
        expression = hop["derivation"]["expression"] or ""
        changed = (
            expression.replace(" - ", " + ") if " - " in expression
            else expression.replace("argmax", "argmin") if "argmax" in expression
            else expression.replace("argmin", "argmax")
        )  # fmt: skip
        if "value(" in expression and ("after(" in expression or "before(" in expression):
            # Where a single work comes after another, it is the last of those after it as well.
            changed = re.sub(r"\b(?:argmin|argmax|after|before)\b", lambda found: _TURNED[found[0]], expression)
        if changed != expression:
            hop["derivation"]["expression"] = changed
            yield faulty


@fault("recomputation")
def forbidden_expression(row, graph):
    for faulty, hop in each_hop(row):
        if hop["derivation"]["op"] == "compute":
            hop["derivation"]["expression"] += " ** 2"
            yield faulty


@fault("identity")
def id_of_another_plan(row, graph):
    yield row | {"id": "hw-0123456789abcdef"}


@fault("dependencies")
def dangling_dependency(row, graph):
    """A hop that no later hop uses: its reader asks for the fact of a constant instead."""
    for faulty, hop in each_hop(row):
        if hop["derivation"]["op"] == "lookup" and hop["depends_on"]:
            hop["derivation"]["subject"] = "Q42"
            hop["depends_on"] = []
            yield faulty


@fault("dependencies")
def unstated_dependency(row, graph):
    for faulty, hop in each_hop(row):
        if hop["depends_on"]:
            hop["depends_on"] = hop["depends_on"][1:]
            yield faulty


@fault("dependencies")
def cycle(row, graph):
    for faulty, hop in each_hop(row):
        if hop["index"] < len(row["single_hop"]):
            hop["depends_on"] = [hop["index"] + 1]
            yield faulty


@fault("schema")
def wrong_motif(row, graph):
    for motif in ("Chain", "Converging", "Bridge", "Ring"):
        if motif != row["motif_type"]:
            yield row | {"motif_type": motif}


@fault("dependencies")
def wrong_topology(row, graph):
    for name, motif in (("chain", "Chain"), ("converging", "Converging"), ("bridge", "Bridge")):
        if name != row["topology"] and len(row["single_hop"]) == 4:
            yield row | {"topology": name, "motif_type": motif}


@fault("schema")
def extra_hop(row, graph):
    row["single_hop"].append(copy.deepcopy(row["single_hop"][0]))
    yield row


@fault("schema")
def dropped_hop(row, graph):
    for position in range(len(row["single_hop"])):
        yield row | {"single_hop": [hop for i, hop in enumerate(row["single_hop"]) if i != position]}


@fault("schema")
def swapped_hops(row, graph):
    hops = row["single_hop"]
    yield row | {"single_hop": [hops[1], hops[0], *hops[2:]]}


@fault("computing-hop")
def no_computing_hop(row, graph):
    for hop in row["single_hop"]:
        if hop["derivation"]["op"] == "compute":
            subject = f"hop{hop['depends_on'][0]}" if hop["depends_on"] else "Q42"
            hop["derivation"] = {"op": "lookup", "subject": subject, "property": "P36"}
    yield row


@fault("repetition")
def repeated_entity(row, graph):
    looked_up = [hop for hop in row["single_hop"] if hop["answer_type"] == "entity"]
    lookups = [hop for hop in looked_up if hop["derivation"]["op"] != "compute"]
    if len(lookups) >= 2:
        lookups[1].update(answer=lookups[0]["answer"], answer_id=lookups[0]["answer_id"])
        yield row


@fault("domains")
def single_domain(row, graph):
    for hop in row["single_hop"]:
        hop["domain"] = "Sports and Games"
    yield row


@fault("units", "recomputation")
def missing_unit(row, graph):
    for faulty, hop in each_hop(row):
        if hop["unit"]:
            hop["unit"] = ""
            yield faulty


@fault("schema")
def missing_field(row, graph):
    for field in ("id", "single_hop", "multi_hop_question", "multi_hop_answer", "multiple_choice_options",
                  "correct_answer_label", "motif_type"):  # fmt: skip
        yield {key: value for key, value in row.items() if key != field}
    for field in ("question", "answer", "multiple_choice_options", "correct_answer_label", "derivation", "domain"):
        for faulty, hop in each_hop(row):
            del hop[field]
            yield faulty


@fault("schema")
def field_of_another_type(row, graph):
    yield row | {"multi_hop_question": None}
    yield row | {"multi_hop_answer": 95}
    yield row | {"multiple_choice_options": ["a", "b", "c", "d"]}
    yield row | {"single_hop": "none"}
    yield row | {"correct_answer_label": "E"}


@fault("schema")
def empty_field(row, graph):
    yield row | {"multi_hop_question": " "}
    for faulty, hop in each_hop(row):
        hop["question"] = ""
        yield faulty


@fault("schema")
def final_answer_of_another_item(row, graph):
    yield row | {"multi_hop_answer": "Somewhere else"}
