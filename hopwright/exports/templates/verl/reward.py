"""verl's custom reward: 1 for the right answer in the form asked for, 0.1 for a wrong one in that form, 0 otherwise."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hopwright_extraction import extract
from hopwright_metrics import is_close, score_text

FORM_REWARD = 0.1


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """The reward of one answer; `ground_truth` is the JSON text of the data's reward_model."""
    truth = json.loads(ground_truth)
    options = dict(zip("ABCD", truth["options"], strict=True))
    read = extract(solution_str, truth["form"], "cot", options)
    if read.outcome != "answered":
        return 0.0
    if truth["form"] == "mcq":
        return 1.0 if read.value == truth["label"] else FORM_REWARD
    close = any(is_close(read.value, gold, truth["answer_kind"]) for gold in truth["answers"])
    return 1.0 if close or score_text(read.value, truth["answers"]).em == 1 else FORM_REWARD
