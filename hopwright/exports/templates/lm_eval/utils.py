"""Loading, asking and scoring for the lm-evaluation-harness tasks in this folder."""

import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from hopwright_extraction import extract  # noqa: E402
from hopwright_metrics import is_close, joint, score_text  # noqa: E402

STEP = re.compile(r"^[\s*#-]*(?:step\s*)?(\d+)\s*[.:)][\s*]*(.*?)[\s*]*$", re.IGNORECASE | re.MULTILINE)


def load_items(**_):
    """The items, as the split `test`."""
    import datasets

    with (FOLDER / "items.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {"test": datasets.Dataset.from_list(rows)}


def ask_mcq(doc):
    """The question with its options; the harness compares the letters' likelihoods."""
    options = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCD", doc["options"], strict=True))
    return f"Question: {doc['question']}\n{options}\nThe letter of the right option is"


def ask_steps(doc):
    """The question with its sub-questions; one line is asked for each, and one for the answer."""
    steps = "\n".join(f"{number}. {hop['question']}" for number, hop in enumerate(doc["hops"], start=1))
    return (
        "Answer the question by way of its sub-questions, in which #1 stands for the answer to the first, and so on. "
        "Write one line for each sub-question, with its number and its answer alone, such as `1: Paris`. "
        "Then write the answer to the whole question on a last line that reads: FINAL ANSWER: the answer\n\n"
        f"Question: {doc['question']}\n{steps}\n\nAnswers:\n"
    )


def score_steps(doc, results):
    """Exact match and F1 of the answer, right or wrong for every hop, and the joint scores of the whole chain."""
    text = results[0]
    given = {int(number): answer for number, answer in STEP.findall(text.split("FINAL ANSWER")[0])}
    final = extract(text, "open", "cot", {})
    answer = score_text(final.value, doc["answers"])
    scores = {"exact_match": answer.em, "f1": answer.f1, "extracted": float(final.outcome == "answered")}
    chain = []
    for number, hop in enumerate(doc["hops"], start=1):
        score = score_text(given.get(number, ""), hop["answers"])
        chain.append(score)
        scores[f"hop_{number}"] = float(is_right(given.get(number, ""), hop, score))
    scores["right"] = float(is_right(final.value, doc, answer))
    scores["joint_em"], scores["joint_f1"] = joint([*chain, answer])
    return scores


def is_right(given, part, score):
    """Exact match, or close enough for a number or a date."""
    return bool(given) and (
        score.em == 1 or any(is_close(given, gold, part["answer_kind"]) for gold in part["answers"])
    )
