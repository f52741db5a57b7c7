"""Reading and scoring answers about novels: a name by all names of the right one, a number by its value."""

from pathlib import Path

from hopwright_extraction import extract
from hopwright_metrics import normalise, read_range

FOLDER = Path(__file__).resolve().parent


def read_context(row):
    """The window of a question; those of one window share a file."""
    return (FOLDER / row["context"]).read_bytes().decode("utf-8")


def ask(row):
    """What is read, then the question: questions about one window begin alike, so that a prompt cache holds it."""
    return (
        "A paragraph names a person or a place where a name of theirs stands in it; pronouns do not count, headings "
        "do. Answer from the excerpt, even where it contradicts what you know.\n\nThe excerpt:\n\n"
        f"{read_context(row)}\n\nQuestion: {row['question']}\nAnswer with a name, a few words or a number alone, on a "
        "line that reads: FINAL ANSWER: the answer"
    )


def read(text):
    """The answer in a completion, and whether there is one."""
    found = extract(text, "open", "cot", {})
    if found.outcome != "answered":
        found = extract(text, "open", "direct", {})
    return found.value, found.outcome == "answered"


def is_right(given, row):
    """Whether an answer is one of the right one's names, or its number."""
    if row["answer_kind"] == "number":
        gold, ours = read_range(row["answers"][0]), read_range(given)
        return gold is not None and gold == ours
    return any(normalise(given) == normalise(answer) for answer in row["answers"])


def score(text, row):
    """The answer, whether it is right, and whether there is one."""
    given, extracted = read(text)
    return given, {"right": float(is_right(given, row)), "extracted": float(extracted)}
