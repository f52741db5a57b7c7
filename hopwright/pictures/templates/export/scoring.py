"""Asking for an answer about pictures, and scoring it: names by aliases, times by lists, numbers within a tenth."""

from decimal import Decimal

from hopwright_extraction import extract
from hopwright_metrics import LEAST_OVERLAP, normalise, overlap, read_range

MARGIN = Decimal("0.1")


def ask(row):
    """The words that go with the pictures."""
    unit = f" in {row['unit']}" if row["answer_kind"] == "number" and row["unit"] else ""
    return (
        f"{row['question']}\nAnswer with a name, a number{unit} or a date alone, on a line that reads: "
        "FINAL ANSWER: the answer"
    )


def read(text):
    """The answer in a completion and whether there is one."""
    found = extract(text, "open", "cot", {})
    if found.outcome != "answered":
        found = extract(text, "open", "direct", {})
    return found.value, found.outcome == "answered"


def is_right(given, row):
    """InfoSeek's rules, as MMhops uses them."""
    if row["answer_kind"] != "number":
        return any(normalise(given) == normalise(answer) for answer in row["answers"])
    gold, ours = read_range(row["answer"]), read_range(given)
    if gold is None or ours is None:
        return False
    low, high = gold
    if low == high:
        low, high = sorted((low * (1 - MARGIN), high * (1 + MARGIN)))
    if low <= ours[0] and ours[1] <= high:
        return True
    return ours[0] != ours[1] and overlap(ours, (low, high)) >= LEAST_OVERLAP
