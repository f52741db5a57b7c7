"""What an evaluation needs to know of an item; read from any file in the release format, ours or a bare one, and from
the records of a set of questions over documents."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.foreign import show, show_invalid
from hopwright.records import Evidence, Item, LiteralFact, Passage, Rejected, Span, Triplet
from hopwright.release.format import parse_row, read_jsonl
from hopwright.release.layout import SetName, SplitFiles, find_split_files
from hopwright.runs.files import hash_file

RECORDS, QRELS = "items.jsonl", "qrels.trec"
"""What a set of questions over documents is known by: its records, and which passages are gold for them."""
UNKNOWN = "unknown"
"""What stands in a later question where a model gave no answer to an earlier one."""
TO_TEST_ON: tuple[SetName, ...] = ("bench", "test", "synth")
TO_TRAIN_ON: tuple[SetName, ...] = ("synth",)
_YEAR = re.compile(r"^\d{4}$")


@dataclass(frozen=True, slots=True, eq=False)
class EvalHop:
    """One sub-question. `domain` and `kind` (of its computation) are empty where the file does not say.

    `spans` and `facts` are what its evidence cites of documents and of the graph, `passages` the texts with it.
    """

    index: int
    question: str
    answer: str
    aliases: tuple[str, ...]
    answer_type: str
    options: dict[str, str]
    label: str
    depends_on: tuple[int, ...]
    domain: str
    kind: str
    spans: tuple[Span, ...] = ()
    facts: tuple[Triplet | LiteralFact, ...] = ()
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class EvalItem:
    """One question with its sub-questions. `pair` is the same for an item and its counterfactual twin.

    `difficulty` is the share of its voters that answered it wrongly; None where nobody voted.
    """

    id: str
    topology: str
    variant: str
    pair: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    answer_type: str
    options: dict[str, str]
    label: str
    hops: tuple[EvalHop, ...]
    passages: tuple[Passage, ...]
    difficulty: float | None = None

    def hop(self, index: int) -> EvalHop:
        """The hop of that number, from 1."""
        return self.hops[index - 1]

    @property
    def computations(self) -> tuple[str, ...]:
        """The kinds of computation on the way, each once."""
        return tuple(dict.fromkeys(hop.kind for hop in self.hops if hop.kind))


@dataclass(frozen=True, slots=True)
class EvalFile:
    """The items of one or several files, and the rows that are none."""

    items: tuple[EvalItem, ...]
    rejected: tuple[Rejected, ...]
    hashes: dict[str, str]


def read_items(path: Path, limit: int = 0, sets: Sequence[SetName] = TO_TEST_ON) -> EvalFile:
    """Read a release folder (items and twins of one set), the folder of a set of questions over documents, or one JSONL
    file in the release format or of such a set.

    Of a release, the first of `sets` that it holds is read. `limit` takes so many items, spread over the file, and the
    twins of those. Raises InputError when nothing is there.
    """
    files = _find_files(path, sets)
    items: list[EvalItem] = []
    rejected: list[Rejected] = []
    for file in files:
        for number, row in read_jsonl(file):
            if isinstance(row, Rejected):
                rejected.append(row)
                continue
            item = _read_record(row) if "hops" in row and "single_hop" not in row else _read_row(row)
            if isinstance(item, Item):
                items.append(to_eval_item(item))
            else:
                rejected.append(Rejected(key=f"{file.name}:{number}", check="format", reason=item))
    if not items:
        why = f"; the first of {len(rejected)} bad rows: {show(rejected[0].reason)}" if rejected else ""
        raise InputError(f"{path}: no item in the release format{why}")
    often, times = Counter(item.id for item in items).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path}: the id {show(often)!r} is there {times} times")
    if limit:
        items = _take(items, limit)
    return EvalFile(tuple(items), tuple(rejected), {file.name: hash_file(file) for file in files})


def to_eval_item(item: Item) -> EvalItem:
    """What an evaluation needs of an item; rows without a plan lack domains and computations."""
    hops = tuple(
        EvalHop(
            index=hop.index,
            question=hop.question,
            answer=hop.answer,
            aliases=tuple(hop.answer_aliases),
            answer_type=hop.answer_type,
            options={str(label): text for label, text in hop.options.items()},
            label=hop.label or "",
            depends_on=tuple(hop.depends_on),
            domain=getattr(hop, "domain", None) or "",
            kind=getattr(getattr(hop, "derivation", None), "kind", ""),
            spans=evidence.spans,
            facts=(*evidence.triplets, *evidence.literals),
            passages=evidence.passages,
        )
        for hop in item.hops
        for evidence in (getattr(hop, "evidence", None) or Evidence(),)
    )
    return EvalItem(
        id=item.id,
        topology=item.topology,
        variant=item.variant,
        pair=min(item.id, item.twin) if item.twin else item.id,
        question=item.question,
        answer=item.answer,
        aliases=tuple(item.answer_aliases),
        answer_type=item.hops[-1].answer_type,
        options={str(label): text for label, text in item.options.items()},
        label=item.label or "",
        hops=hops,
        passages=tuple(passage for hop in item.hops for passage in _passages_of(hop)),
        difficulty=1 - sum(vote.right for vote in item.votes) / len(item.votes) if item.votes else None,
    )


def substitute_given_answers(hop: EvalHop, item: EvalItem, given: dict[int, str]) -> tuple[str, tuple[int, ...]]:
    """The sub-question with other answers in the place of the gold ones that it names.

    `given` maps the number of an earlier hop to what is to stand there. Returns the question and the hops whose answer
    it does not name in so many words: what is given for those has to be told beside it.
    """
    places: list[tuple[int, int, int]] = []
    missing: list[int] = []
    for index in hop.depends_on:
        if index not in given:
            continue
        found = _find_mentions(hop.question, item.hop(index))
        free = [span for span in found if not any(span[0] < last and first < span[1] for first, last, _ in places)]
        if free:
            places += [(first, last, index) for first, last in free]
        else:
            missing.append(index)
    text = hop.question
    for first, last, index in sorted(places, reverse=True):
        text = text[:first] + given[index] + text[last:]
    return text, tuple(missing)


def draw_irrelevant_passages(item: EvalItem, items: Sequence[EvalItem], seed: int) -> tuple[Passage, ...]:
    """As many passages as the item has (at least one per hop), of other items, that name none of its answers."""
    wanted = max(len(item.passages), len(item.hops))
    names = [name.casefold() for hop in item.hops for name in (hop.answer, *hop.aliases) if len(name) > 2]
    draw = random.Random(f"{seed}:{item.id}")
    found: list[Passage] = []
    for _ in range(20 * wanted):
        if len(found) == wanted:
            break
        other = items[draw.randrange(len(items))]
        if other.pair == item.pair or other.variant != item.variant or not other.passages:
            continue
        passage = other.passages[draw.randrange(len(other.passages))]
        text = passage.text.casefold()
        if passage not in found and not any(name in text for name in names):
            found.append(passage)
    return tuple(found)


def is_year(text: str) -> bool:
    """Whether a number is written as a year: four digits without a thousands separator."""
    return bool(_YEAR.match(text.strip()))


def kind_of(answer: str, answer_type: str) -> str:
    """`date`, `number` or `text`: which tolerance an answer is scored with."""
    if answer_type == "date" or is_year(answer):
        return "date"
    return "number" if answer_type == "number" else "text"


def _find_mentions(question: str, hop: EvalHop) -> list[tuple[int, int]]:
    """Where the question names the hop's answer, by its longest name that occurs."""
    for name in sorted({hop.answer, *hop.aliases}, key=lambda one: (one != hop.answer, -len(one), one)):
        if len(name) < 2 and not name.isdigit():
            continue
        pattern = rf"(?<![\w,.]){re.escape(name)}(?!\w|[,.]\d)"
        if spans := [match.span() for match in re.finditer(pattern, question)]:
            return spans
    return []


def _passages_of(hop: Any) -> tuple[Passage, ...]:
    """The hop's passages; without any, its facts in one."""
    evidence = hop.evidence
    if evidence.passages:
        return tuple(evidence.passages)
    lines = [f"{one.subject_label}: {one.property_label}: {one.object_label}." for one in evidence.triplets]
    lines += [f"{one.subject_label}: {one.property_label}: {one.value}." for one in evidence.literals]
    lines += [one.statement for one in evidence.claims]
    if not lines:
        return ()
    titles = [one.subject_label for one in (*evidence.triplets, *evidence.literals)]
    return (Passage(title=[*titles, *(one.source_title for one in evidence.claims)][0], text="\n".join(lines)),)


def _read_row(row: dict[str, Any]) -> Item | str:
    """The item of a row in the release format; what is wrong with the row, where something is."""
    parsed = parse_row(row)
    return parsed.item if parsed.item is not None else "; ".join(map(str, parsed.problems[:3]))


def _read_record(row: dict[str, Any]) -> Item | str:
    """The item that a row holds as a record; what is wrong with it, where something is."""
    try:
        return Item.model_validate(row)
    except ValidationError as error:
        return show_invalid(error)


def _find_files(path: Path, sets: Sequence[SetName]) -> list[Path]:
    if path.is_dir() and (path / QRELS).is_file() and (path / RECORDS).is_file():
        return [path / RECORDS]
    if path.is_dir():
        places = find_split_files(path)
        chosen = next((name for name in sets if SplitFiles(name, "factual") in places), places[0].set)
        return [path / place.jsonl for place in places if place.set == chosen]
    if not path.is_file():
        raise InputError(f"{path}: no such file; give a release's folder or a JSONL file in the release format")
    return [path]


def _take(items: list[EvalItem], limit: int) -> list[EvalItem]:
    """Every so-manieth of the factual items (of all, where there are none), and the twins of those."""
    first = [item for item in items if item.variant == "factual"] or items
    step = max(len(first) / limit, 1.0)
    chosen = {first[int(number * step)].pair for number in range(min(limit, len(first)))}
    return [item for item in items if item.pair in chosen]
