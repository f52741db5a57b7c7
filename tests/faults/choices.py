"""Options that cannot be chosen between."""

from __future__ import annotations

from hopwright.records import LABELS
from tests.faults.planting import copy_to_item, each_hop, fault, swap_option


@fault("options")
def wrong_label(row, graph):
    right = row["correct_answer_label"]
    yield row | {"correct_answer_label": LABELS[(LABELS.index(right) + 1) % 4]}
    for faulty, hop in each_hop(row):
        hop["correct_answer_label"] = LABELS[(LABELS.index(hop["correct_answer_label"]) + 2) % 4]
        yield faulty


@fault("options")
def options_without_the_answer(row, graph):
    for faulty, hop in each_hop(row):
        hop["multiple_choice_options"][hop["correct_answer_label"]] = "1,234,567" if hop["unit"] else "Nowhere"
        yield copy_to_item(faulty) | {"multi_hop_answer": row["multi_hop_answer"]}


@fault("options", "distractors")
def duplicated_options(row, graph):
    for faulty, hop in each_hop(row):
        first, *others = hop["distractors"]
        if others:
            yield swap_option(faulty, hop, others[0]["text"], first["text"])


@fault("options", "distractors")
def options_equal_but_for_case(row, graph):
    for faulty, hop in each_hop(row):
        if hop["answer_type"] == "entity" and len(hop["distractors"]) > 1:
            yield swap_option(faulty, hop, hop["distractors"][1]["text"], hop["distractors"][0]["text"].upper())


@fault("options", "distractors")
def answer_twice_as_a_number(row, graph):
    for faulty, hop in each_hop(row):
        if hop["answer_type"] == "number":
            yield swap_option(faulty, hop, hop["distractors"][0]["text"], f"0{hop['answer']}")


@fault("options")
def three_options(row, graph):
    for faulty, hop in each_hop(row):
        wrong = next(label for label in LABELS if label != hop["correct_answer_label"])
        del hop["multiple_choice_options"][wrong]
        yield copy_to_item(faulty)


@fault("options")
def options_of_another_hop(row, graph):
    first = row["single_hop"][0]
    yield row | {
        "multiple_choice_options": dict(first["multiple_choice_options"]),
        "correct_answer_label": first["correct_answer_label"],
    }


@fault("distractors")
def missing_distractor(row, graph):
    for faulty, hop in each_hop(row):
        hop["distractors"] = hop["distractors"][:-1]
        yield faulty


@fault("distractors")
def distractor_of_another_type(row, graph):
    for faulty, hop in each_hop(row):
        wrong = "1905" if hop["answer_type"] == "entity" else "Nilsby Town"
        if wrong not in hop["multiple_choice_options"].values():
            yield swap_option(faulty, hop, hop["distractors"][0]["text"], wrong)


@fault("distractors")
def distractor_of_another_precision(row, graph):
    for faulty, hop in each_hop(row):
        if hop["answer_type"] == "number":
            text = hop["distractors"][0]["text"]
            yield swap_option(faulty, hop, text, text + ".5")


@fault("distractors", needs_graph=True)
def distractor_that_is_an_alias(row, graph):
    for faulty, hop in each_hop(row):
        for alias in graph.aliases(hop["answer_id"] or "")[:1]:
            yield swap_option(faulty, hop, hop["distractors"][0]["text"], alias)


@fault("distractors-false", "distractors", needs_graph=True)
def distractor_with_another_id(row, graph):
    for faulty, hop in each_hop(row):
        if hop["answer_id"]:
            hop["distractors"][0]["id"] = hop["answer_id"]
            yield faulty


@fault("distractors-shown")
def number_of_the_question_among_the_options(row, graph):
    for faulty, hop in each_hop(row):
        for source in faulty["single_hop"]:
            numbers = source["answer_type"] == hop["answer_type"] == "number"
            text, options = source["answer"], hop["multiple_choice_options"].values()
            if numbers and source["index"] in hop["depends_on"] and text in hop["question"] and text not in options:
                yield swap_option(faulty, hop, hop["distractors"][0]["text"], text)
                break


@fault("distractors-shown")
def name_of_the_question_among_the_options(row, graph):
    for faulty, hop in each_hop(row):
        subject = hop["derivation"]["subject"] or ""
        if hop["answer_type"] == "entity" and subject.startswith("Q"):
            yield swap_option(faulty, hop, hop["distractors"][0]["text"], graph.label(subject))
