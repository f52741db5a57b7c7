"""Anchors: MuSiQue's 2-hop questions, read in every layout in which they circulate, their answers linked."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from hopwright.errors import InputError
from hopwright.foreign import (
    LONGEST_FILE,
    LONGEST_LINE,
    JsonError,
    check_file,
    find_control,
    load_json,
    read_bounded,
    read_lines,
    show,
)
from hopwright.knowledge.wikidata.linking import Abstention, Linker
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Anchor, Rejected, Triplet

_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)
_LONGEST_ID = 200
_LONGEST_TEXT = 10_000
_MOST_ALIASES = 200
_ROW = 2000
"""Characters of a bad record that are kept with its rejection."""


@dataclass(frozen=True, slots=True)
class AnchorQuestion:
    """One 2-hop question: its two sub-questions, answers and ids, and its supporting paragraphs where the file
    has them.
    """

    id: str
    question: str
    answer: str
    answer_aliases: tuple[str, ...]
    sub_questions: tuple[str, ...]
    sub_answers: tuple[str, ...]
    sub_ids: tuple[str, ...] = ()
    paragraphs: tuple[str, ...] = ()

    @property
    def last_sub_question(self) -> str:
        """The sub-question whose answer is the question's, with `#1` filled in."""
        text = self.sub_questions[-1]
        for index, answer in enumerate(self.sub_answers[:-1], 1):
            text = text.replace(f"#{index}", answer)
        return text


def read_anchor_questions(path: Path) -> Iterator[AnchorQuestion | Rejected]:
    """Read MuSiQue's records: JSON lines, a JSON array, or `{"data": [[…]]}`; plain, `.gz` or `.xz`.

    Questions of more or fewer than two hops are passed over. A malformed record becomes a Rejected (check
    `anchor_format`), with its id or `file:line` (in an array, `file:number`) as key. Raises InputError for
    a file that is missing, truncated, or no JSON at all.
    """
    seen: set[str] = set()
    for place, record in _read_records(Path(path)):
        where = f"{Path(path).name}:{place}"
        if isinstance(record, _MalformedRecord):
            yield Rejected(key=where, check="anchor_format", reason=record.reason, row=record.text[:_ROW])
            continue
        result = _parse(record, where)
        if isinstance(result, AnchorQuestion):
            if result.id in seen:
                result = _reject(record, result.id, "a record with this id came before")
            else:
                seen.add(result.id)
        if result is not None:
            yield result


def link_anchors(
    questions: Iterable[AnchorQuestion], store: GraphStore, *, max_triplets: int = 200
) -> tuple[list[Anchor], list[Rejected]]:
    """Link every question's answer to an entity, and fetch what the graph says about it.

    An anchor gets the triplets whose subject it is, then those whose object it is (of a hub, evenly from
    every property), `max_triplets` in all, and its literals. An answer that is not linked becomes a
    Rejected (check `anchor_link`) whose reason says why.
    """
    linker = Linker(store)
    anchors: list[Anchor] = []
    rejected: list[Rejected] = []
    for question in questions:
        others = " . ".join((*question.sub_questions, *question.sub_answers[:-1], *question.paragraphs))
        link = linker.link(
            question.answer,
            aliases=question.answer_aliases,
            question=question.last_sub_question,
            context=f"{question.question} ? {others}",
        )
        if isinstance(link, Abstention):
            row = json.dumps({"question": question.question, "answer": question.answer}, ensure_ascii=False)
            rejected.append(Rejected(key=question.id, check="anchor_link", reason=link.reason, row=row))
            continue
        anchors.append(
            Anchor(
                question_id=question.id,
                question=question.question,
                answer=question.answer,
                sub_questions=question.sub_questions,
                sub_answers=question.sub_answers,
                sub_ids=question.sub_ids,
                entity=link.entity,
                entity_label=store.label(link.entity),
                triplets=neighbourhood(store, link.entity, max_triplets),
                literals=store.literals(link.entity),
            )
        )
    return anchors, rejected


def neighbourhood(store: GraphStore, entity: str, most: int) -> tuple[Triplet, ...]:
    """The entity's triplets with labels: those whose subject it is first, then those whose object it is."""
    outward = store.out_edges_spread(entity, most)
    loops = sum(other == entity for _, other in outward)
    inward = store.in_edges_spread(entity, most - len(outward) + loops) if len(outward) < most else ()
    edges = [(entity, property, other) for property, other in outward]
    edges += [(other, property, entity) for property, other in inward if other != entity]
    return tuple(
        Triplet(
            subject=subject,
            property=property,
            object=object,
            subject_label=store.label(subject),
            property_label=store.property_label(property),
            object_label=store.label(object),
        )
        for subject, property, object in edges
    )


@dataclass(frozen=True, slots=True)
class _MalformedRecord:
    reason: str
    text: str


def _read_records(path: Path) -> Iterator[tuple[int, Any]]:
    """Number of line or place in the array, and the record or what is wrong with it."""
    try:
        with _open(path) as file:
            first = file.readline(LONGEST_LINE + 1)
            while first and not first.strip():
                first = file.readline(LONGEST_LINE + 1)
            if not first.strip():
                raise InputError(f"{path} is empty; it should hold MuSiQue records")
            if _is_line(first):
                yield from _read_lines(first, file)
                return
            raw = first + read_bounded(file, LONGEST_FILE - len(first), path)
    except _BROKEN as error:
        raise InputError(f"{path} is truncated or damaged ({error}); get it again") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        whole = load_json(raw)
    except JsonError as error:
        if first.lstrip(b"\xef\xbb\xbf \t").startswith(b"{"):  # JSON lines whose first line is broken
            yield from ((n, _load(line)) for n, line in read_lines(io.BytesIO(raw)) if line is None or line.strip())
            return
        raise InputError(f"{path}: {error}; it should hold MuSiQue records") from None
    yield from enumerate(_flatten(whole["data"] if isinstance(whole, dict) and "data" in whole else whole), 1)


def _is_line(first: bytes) -> bool:
    """Whether the first line is a record of its own, so that the rest are lines, too."""
    record = _load(first)
    return isinstance(record, dict) and "data" not in record


def _read_lines(first: bytes, file: IO[bytes]) -> Iterator[tuple[int, Any]]:
    yield 1, _load(first)
    for number, line in read_lines(file):
        if line is None or line.strip():
            yield number + 1, _load(line)


def _load(line: bytes | None) -> Any:
    if line is None:
        return _MalformedRecord(f"a line of more than {LONGEST_LINE >> 20} MiB", "")
    try:
        return load_json(line)
    except JsonError as error:
        return _MalformedRecord(str(error), line[: 4 * _ROW].decode(errors="replace"))


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            if isinstance(one, list):
                yield from one
            else:
                yield one
    else:
        yield value


def _parse(record: Any, where: str) -> AnchorQuestion | Rejected | None:
    """An anchor question, a rejection, or None for a question of another number of hops."""
    if not isinstance(record, Mapping):
        return _reject(record, where, "not a record but a bare value")
    id = record.get("id")
    key = id if isinstance(id, str) and id else where
    if len(key) > _LONGEST_ID or find_control(key):
        return _reject(record, where, f"its id {show(key, 60)!r} is too long, or holds what no id should")
    hops = record.get("question_decomposition")
    if not isinstance(hops, list) or not all(isinstance(hop, Mapping) for hop in hops):
        return _reject(record, key, "question_decomposition is no list of sub-questions")
    if len(hops) != 2:
        return None if hops else _reject(record, key, "question_decomposition is empty")
    if key == where:
        return _reject(record, key, "no id")
    texts = [record.get("question"), record.get("answer")]
    texts += [hop.get(name) for hop in hops for name in ("question", "answer")]
    names = ["question", "answer", "sub-question 1", "sub-answer 1", "sub-question 2", "sub-answer 2"]
    for name, text in zip(names, texts, strict=True):
        if not isinstance(text, str) or not text.strip():
            return _reject(record, key, f"{name} is missing or empty")
        if len(text) > _LONGEST_TEXT:
            return _reject(record, key, f"{name} has {len(text):,} characters; {_LONGEST_TEXT:,} are the most")
    if record.get("answerable") is False:
        return _reject(record, key, "marked as not answerable")
    aliases = record.get("answer_aliases") or []
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        return _reject(record, key, "answer_aliases is no list of texts")
    if len(aliases) > _MOST_ALIASES or any(len(alias) > _LONGEST_TEXT for alias in aliases):
        return _reject(record, key, f"more than {_MOST_ALIASES} answer_aliases, or one too long")
    question, answer, first, first_answer, last, last_answer = (cast(str, text).strip() for text in texts)
    return AnchorQuestion(
        cast(str, id), question, answer, tuple(aliases), (first, last), (first_answer, last_answer),
        tuple(str(hop.get("id", ""))[:_LONGEST_ID] for hop in hops), _find_support(record, hops),
    )  # fmt: skip


def _find_support(record: Mapping[str, Any], hops: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """The supporting paragraphs, found by their own numbers: some copies of the data lack one of the
    twenty.
    """
    held = record.get("paragraphs")
    paragraphs = [one for one in held if isinstance(one, Mapping)] if isinstance(held, list) else []
    wanted = [number for hop in hops if isinstance(number := hop.get("paragraph_support_idx"), int)]
    return tuple(
        f"{one.get('title', '')}: {one.get('paragraph_text', '')}"[:_LONGEST_TEXT]
        for place, one in enumerate(paragraphs)
        if one.get("is_supporting") or one.get("idx", place) in wanted
    )


def _reject(record: Any, key: str, reason: str) -> Rejected:
    row = json.dumps(record, ensure_ascii=False)[:_ROW]
    return Rejected(key=key, check="anchor_format", reason=reason, row=row)


def _open(path: Path) -> IO[bytes]:
    check_file(path)
    if path.suffix == ".gz":
        if path.stat().st_size == 0:
            raise EOFError("no bytes")
        return cast(IO[bytes], gzip.open(path))
    if path.suffix == ".xz":
        return cast(IO[bytes], lzma.open(path))
    return path.open("rb")
