"""A model that sees the pictures words the questions anew; each wording is held against the plan before it is taken.

What is checked is what a wording can get wrong: names that give something away, what is compared and in which
direction, the order of the pictures, units, length. A wording that fails is sent back once; then the rules' words stay.
The answers never come from the model. A twin is the same question, so it is worded by the same words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hopwright.llm.answers import WordedPictureQuestion
from hopwright.llm.asking import QueryResult, RequestSender, ask_in_rounds
from hopwright.llm.prompts import Prompt, load_prompts
from hopwright.llm.types import ImageData, ModelRef, Request
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.rows import list_media, read_text
from hopwright.records import Item, TextPart
from hopwright.records.documents import render_parts
from hopwright.text.demonyms import list_demonyms
from hopwright.text.matching import contains_alias, pad

PROMPT = "word-picture"
_TRIES = 2
_MOST_WORDS = 40
_DIRECTIONS: Mapping[str, str] = {
    "more": r"most|more|largest|larger|biggest|bigger|longest|longer|greatest|greater|exceeds?|beyond",
    "less": r"least|fewest|fewer|smallest|smaller|shortest|shorter|lowest|less",
    "before": r"earlier|earliest|before",
    "after": r"later|latest|after",
    "first": r"first",
    "second": r"second",
    "third": r"third",
}
"""Words of a direction or an order; what says the one must not say the other."""
_SAID: Mapping[str, str] = {
    "people": r"popul\w*|inhabitants|people",
    "coast": r"coast\w*",
    "independence": r"independen\w*",
    "capital": r"capital",
    "border": r"border\w*|neighbou?r\w*|adjoin\w*|next to",
    "land": r"land|overland",
    "square kilometres": r"square kilomet\w*",
    "decimal place": r"decimal",
    "office": r"president",
    "birth": r"born|birth\w*",
    "death": r"die[sd]?|death",
    "age": r"old|age",
}
"""What a question is about; each that the rules' words have is in the model's words, and no other."""
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<![.?!:] )(?<!^)\b[A-Z]\w+")


@dataclass(frozen=True, slots=True)
class Rewording:
    """What came of a set: items and twins, and how many questions have new words or why not."""

    items: tuple[Item, ...]
    twins: tuple[Item, ...]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Asked:
    item: Item
    twin: Item | None
    images: tuple[ImageData, ...]


def reword_pictures(found: PictureSet, model: ModelRef, sender: RequestSender) -> Rewording:
    """Have a model word every question of a set anew, its pictures in sight."""
    asked = list(_list_asked(found))
    writer = _Writer(load_prompts()[PROMPT], model)
    results = ask_in_rounds(sender, asked, writer.request, writer.judge, tries=_TRIES)
    counts: Counter[str] = Counter()
    items, changed = [], []
    for one, result in zip(asked, results, strict=True):
        counts["worded" if result.value else f"kept: {result.problem}"] += 1
        items.append(writer.apply(one.item, result))
        if one.twin is not None:
            changed.append(writer.apply(one.twin, result))
    return Rewording(tuple(items), tuple(changed), dict(sorted(counts.items())))


def list_requests(found: PictureSet, model: ModelRef) -> Iterator[Request]:
    """The first request for every question of a set."""
    writer = _Writer(load_prompts()[PROMPT], model)
    return (writer.request(one, 0) for one in _list_asked(found))


def _list_asked(found: PictureSet) -> Iterator[_Asked]:
    twins = {twin.twin: twin for twin in found.twins}
    for item, _ in found.items:
        images = tuple(ImageData(found.read_png(media)) for media in list_media(item))
        yield _Asked(item, twins.get(item.id), images)


class _Writer:
    """Words questions by one model and one prompt."""

    def __init__(self, prompt: Prompt, model: ModelRef) -> None:
        self._prompt = prompt
        self._model = model
        self._problems: dict[str, str] = {}

    def request(self, asked: _Asked, attempt: int) -> Request:
        """The request for one item; another attempt says what was wrong with the one before."""
        item = asked.item
        inputs: dict[str, Any] = {
            "question": read_text(item.question_parts),
            "steps": [_hide(hop.question, item) for hop in item.hops if not hop.question_parts],
            "problem": self._problems.get(item.id, "") if attempt else "",
        }
        request = self._prompt.request(inputs, self._model, item=item.id)
        *before, last = request.messages
        return replace(request, messages=(*before, replace(last, images=asked.images)))

    def judge(self, asked: _Asked, answer: WordedPictureQuestion) -> tuple[str | None, str]:
        """The wording, or what is wrong with it for the item or its twin."""
        text = " ".join(answer.question.split())
        for item in (asked.item, asked.twin):
            if item is not None and (problem := find_wording_problem(text, item)):
                self._problems[asked.item.id] = problem
                return None, problem
        return text, ""

    def apply(self, item: Item, result: QueryResult[str]) -> Item:
        """The item in the words that were taken; unchanged where none were."""
        if result.value is None:
            return item
        parts = (*item.question_parts[:-1], TextPart(text=f" {result.value}"))
        spent = result.spent
        provenance = item.provenance.model_copy(
            update={
                "generator": "model", "model": str(self._model), "model_version": spent.model_version,
                "prompt": PROMPT, "prompt_version": str(self._prompt.front.version), "request_keys": spent.keys,
                "input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens, "cost_usd": spent.cost_usd,
            }
        )  # fmt: skip
        return item.model_copy(
            update={"question_parts": parts, "question": render_parts(parts), "provenance": provenance}
        )


def find_wording_problem(text: str, item: Item) -> str:
    """What is wrong with a new wording of an item's question; empty where nothing is."""
    before = read_text(item.question_parts)
    if not text.endswith("?") or text.count("?") > 1:
        return "it is not one question"
    if len(text.split()) > _MOST_WORDS:
        return f"it has more than {_MOST_WORDS} words"
    if leaked := _find_name(text, item):
        return f"it names {leaked}"
    if _NUMBER.search(text):
        return "it states a number"
    if strange := set(_NAME.findall(text)) - set(re.findall(r"\w+", before)):
        return f"it names {min(strange)}"
    for kinds, what in ((_DIRECTIONS, "direction"), (_SAID, "subject")):
        wanted, said = _read_words(before, kinds), _read_words(text, kinds)
        if wanted != said:
            return f"its {what} is not that of the question: {', '.join(sorted(wanted ^ said))}"
    return ""


def _find_name(text: str, item: Item) -> str:
    padded = pad(text)
    for hop in item.hops:
        if hop.answer_type != "entity":
            continue
        names = (hop.answer, *hop.answer_aliases)
        for name in (*names, *list_demonyms(names)):
            if contains_alias(text, padded, name):
                return name
    return ""


def _read_words(text: str, kinds: Mapping[str, str]) -> set[str]:
    return {name for name, words in kinds.items() if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)}


def _hide(question: str, item: Item) -> str:
    """A sub-question with the answers that it names as their hops: the model has no use for them."""
    for hop in item.hops:
        for name in sorted((hop.answer, *hop.answer_aliases), key=len, reverse=True):
            question = re.sub(rf"\b{re.escape(name)}\b", f"#{hop.index}", question)
    return question
