"""The audit of a folder of questions about novels: windows, spans, words and twins, and every proof counted again.

It reads the folder and the books' files, and trusts neither what items say of themselves nor the planner: the proofs
are those of `hopwright.novels.counting`, over the text of the window.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hopwright.errors import InputError
from hopwright.knowledge.books.book import hash_text, plain_lines
from hopwright.knowledge.books.tokens import WORDS, count_tokens
from hopwright.novels.book_names import BookNames
from hopwright.novels.counted_text import Paragraph
from hopwright.novels.counting import WindowCounter
from hopwright.novels.dataset import BookTexts, NovelSet
from hopwright.novels.drafting import TOPOLOGIES
from hopwright.novels.records import NovelItem
from hopwright.novels.star import list_star_checks
from hopwright.planning.mention_steps import NUMBERS
from hopwright.records import ReadSpan
from hopwright.wording.rules.mention_wording import quote_words

_KEPT = 4
"""Windows whose counters are kept: items of one window stand together."""


@dataclass(frozen=True, slots=True)
class NovelViolation:
    """One rule that an item breaks; `item` is empty where the set as a whole does."""

    check: str
    item: str
    reason: str


@dataclass(frozen=True, slots=True)
class NovelAudit:
    """What an audit found: how many items and twins it read, what is wrong, and which checks could not run."""

    items: int
    twins: int
    windows: int
    checks: tuple[str, ...]
    violations: tuple[NovelViolation, ...]
    skipped: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Case:
    """What the checks of one item share. `text`: the window as the book has it."""

    names: BookNames
    text: str
    book: str
    counter: WindowCounter


def audit_novels(found: NovelSet, texts: BookTexts, tell: Callable[[str], None]) -> NovelAudit:
    """Check every item and every twin of a folder. Books that the shelf lacks are said to be skipped."""
    violations: list[NovelViolation] = []
    skipped: dict[str, str] = {}
    forged = {sha for sha, text in found.windows.items() if hash_text(text) != sha}
    counters: dict[tuple[str, int, int], WindowCounter] = {}
    read: dict[str, dict[int, Paragraph]] = {}
    for number, item in enumerate(found.everything):
        if number % 50 == 0:
            tell(f"item {number:,} of {len(found.everything):,}")
        violations += [NovelViolation("shape", item.id, reason) for reason in _check_shape(item)]
        if item.window.sha256 in forged:
            violations.append(NovelViolation("window", item.id, "the embedded window has another hash"))
        elif found.windows and item.window.sha256 not in found.windows:
            violations.append(NovelViolation("window", item.id, "its window is not embedded, as others are"))
        names = found.books.get(item.window.book)
        if names is None:
            violations.append(NovelViolation("window", item.id, "nothing is said of its book"))
            continue
        violations += [NovelViolation("words", item.id, reason) for reason in _check_words(item, names)]
        try:
            book = texts.read(item.window.book)
        except InputError as error:
            skipped[f"the text of {names.title}"] = str(error)
            continue
        text = book[item.window.start : item.window.end]
        key = (item.window.book, item.window.start, item.window.end)
        if key not in counters:
            for old in list(counters)[: len(counters) - _KEPT + 1]:
                del counters[old]
            counters[key] = WindowCounter(names, text, item.window.start, read.setdefault(item.window.book, {}))
        case = _Case(names, text, book, counters[key])
        for name, check in TEXT_CHECKS.items():
            violations += [NovelViolation(name, item.id, reason) for reason in check(item, case)]
    for name, check_set in SET_CHECKS.items():
        violations += [NovelViolation(name, id, reason) for id, reason in check_set(found)]
    windows = {item.window.sha256 for item in found.everything}
    names_of_checks = ("shape", "words", *TEXT_CHECKS, *SET_CHECKS)
    return NovelAudit(
        len(found.items), len(found.twins), len(windows), names_of_checks, tuple(violations), skipped
    )  # fmt: skip


def _check_shape(item: NovelItem) -> Iterator[str]:
    """Hops are a chain, the answer is the last one's, and ids are those of the content."""
    if item.is_star:
        yield from _check_star_shape(item)
    elif item.topology != TOPOLOGIES.get(len(item.hops)):
        yield f"topology {item.topology!r} does not have {len(item.hops)} hops"
    for place, hop in enumerate(item.hops if not item.is_star else (), start=1):
        if hop.index != place or hop.depends_on != ((place - 1,) if place > 1 else ()):
            yield f"hop {place}: does not follow the one before it"
        if (hop.entity is None) != (hop.step in NUMBERS) and (hop.step != "asked" or place < len(item.hops)):
            yield f"hop {place}: an answer of another kind than its step has"
    last = item.hops[-1]
    if (item.answer, item.answer_aliases) != (last.answer, last.answer_aliases):
        yield "the answer is not the last hop's"
    if item.variant == "factual" and item.id != item.novel_id:
        yield "the id is not the hash of the chain and the window"


def _check_star_shape(item: NovelItem) -> Iterator[str]:
    if item.topology != f"star-{len(item.hops)}":
        yield f"topology {item.topology!r} does not have {len(item.hops)} hops around one keyword"
    for place, hop in enumerate(item.hops, start=1):
        if hop.index != place or hop.depends_on != tuple(range(1, place)) or hop.step != "star":
            yield f"hop {place}: is not asked over all hops before it"


def _check_words(item: NovelItem, names: BookNames) -> Iterator[str]:
    """Every name that a hop goes by stands in the questions, and no answer in the whole question."""
    if item.is_star:
        return
    rest = item.question
    before = ""
    try:
        known = {clue: names.find(clue) for hop in item.hops for clue in (*hop.clues, hop.entity) if clue is not None}
    except KeyError as error:
        yield f"the book names no entity {error}"
        return
    for hop in item.hops:
        clues = [known[clue].name for clue in hop.clues]
        for name in (*clues, *([before] if hop.depends_on else [])):
            if name not in hop.question:
                yield f"hop {hop.index}: does not ask by {name}"
        if hop.chapter and not all(_says_chapter(text, hop.chapter) for text in (hop.question, item.question)):
            yield f"hop {hop.index}: does not ask about Chapter {hop.chapter}"
        if missing := [name for name in clues if name not in item.question]:
            yield f"the question does not ask by {missing[0]}"
        if hop.entity is not None:
            # A model's last answer is the span that it chose.
            chosen = hop.step == "asked" and hop.index == len(item.hops)
            if hop.answer not in (known[hop.entity].aliases if chosen else (known[hop.entity].name,)):
                yield f"hop {hop.index}: the answer is not the entity's name"
            if set(hop.answer_aliases) != set(known[hop.entity].aliases) - {hop.answer}:
                yield f"hop {hop.index}: the aliases are not the entity's"
        before = hop.answer
    for name in sorted({known[clue].name for hop in item.hops for clue in hop.clues}, key=len, reverse=True):
        rest = rest.replace(name, "#")
    for hop in item.hops:
        for name in (hop.answer, *hop.answer_aliases) if hop.step not in NUMBERS else ():
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", rest):
                yield f"the question names {name}"


def _says_chapter(question: str, number: int) -> bool:
    return re.search(rf"\bChapter {number}\b", question) is not None


def _check_window(item: NovelItem, case: _Case) -> Iterator[str]:
    """The window is the text that its hash says, and as long as it says."""
    if hash_text(plain_lines(case.text)) != item.window.sha256:
        yield "the window's text has another hash"
    if item.window.tokens > item.window.length:
        yield "the window is longer than it was cut for"
    if item.window.tokenizer == WORDS and count_tokens(plain_lines(case.text)) != item.window.tokens:
        yield "the window has another number of tokens"


def _check_spans(item: NovelItem, case: _Case) -> Iterator[str]:
    """Spans hold what the book says, the answer's span lies in the hop's paragraph and is a name of the answer."""
    for hop in item.hops:
        inside = [(one.start, one.end) for one in hop.paragraphs]
        if any(not item.window.start <= start < end <= item.window.end for start, end in inside):
            yield f"hop {hop.index}: a paragraph lies outside the window"
        for span in hop.evidence.spans:
            if case.book[span.start : span.end] != span.text:
                yield f"hop {hop.index}: the text at {span.start:,} is not {span.text!r}"
            if not item.is_star and not any(start <= span.start < span.end <= end for start, end in inside):
                yield f"hop {hop.index}: {span.text!r} lies outside its paragraph"
        if isinstance(hop.derivation, ReadSpan):
            own = [(one.start, one.end) for before in item.hops[: hop.index] for one in before.paragraphs]
            allowed = own if item.is_star else inside[:1]
            if not any(start <= hop.derivation.start < hop.derivation.end <= end for start, end in allowed):
                yield f"hop {hop.index}: the answer lies outside its paragraph"
            said = " ".join(case.book[hop.derivation.start : hop.derivation.end].split())
            if said not in (hop.answer, *hop.answer_aliases):
                yield f"hop {hop.index}: the text says {said!r}, not {hop.answer!r}"
        if hop.quoted is not None and quote_words(case.book[hop.quoted.start : hop.quoted.end]) not in hop.question:
            yield f"hop {hop.index}: does not quote the words at {hop.quoted.start:,}"


def _check_proofs(item: NovelItem, case: _Case) -> Iterator[str]:
    """Every hop is unique, needed and chained, by a count over all paragraphs of the window."""
    if item.is_star:
        yield from list_star_checks(item, case.book)
        return
    try:
        places = [case.counter.locate(hop) for hop in item.hops]
    except KeyError:
        yield "a paragraph does not begin where the item says"
        return
    yield from case.counter.refute(item, places)


TEXT_CHECKS: dict[str, Callable[[NovelItem, _Case], Iterator[str]]] = {
    "window": _check_window,
    "spans": _check_spans,
    "proofs": _check_proofs,
}
"""What is checked of each item whose book is at hand."""


def _check_twins(found: NovelSet) -> Iterator[tuple[str, str]]:
    """A twin has its original's chain, other names and another answer; both name each other."""
    originals = {item.id: item for item in found.items}
    for twin in found.twins:
        one = originals.get(twin.twin or "")
        if one is None or one.twin != twin.id:
            yield twin.id, "names no item that names it"
            continue
        if [hop.step for hop in twin.hops] != [hop.step for hop in one.hops]:
            yield twin.id, "has another chain than its original"
        mine = {name.casefold() for name in (one.answer, *one.answer_aliases)}
        if mine & {name.casefold() for name in (twin.answer, *twin.answer_aliases)}:
            yield twin.id, "has its original's answer"
        changed = {pair.original: pair.surrogate for pair in twin.world}
        named = [(hop.answer, *hop.answer_aliases) for hop in one.hops if hop.entity is not None]
        if not all(any(changed.get(name, name) != name for name in names) for names in named):
            yield twin.id, "keeps a name of its original"
    twins = {twin.id for twin in found.twins}
    yield from ((id, "its twin is missing") for id, item in originals.items() if item.twin and item.twin not in twins)


def _check_repetition(found: NovelSet) -> Iterator[tuple[str, str]]:
    """No question is asked twice about the same window, and no id stands twice."""
    seen: set[tuple[str, str]] = set()
    ids: set[str] = set()
    for item in found.everything:
        if (item.question, item.window.sha256) in seen or item.id in ids:
            yield item.id, "is asked twice"
        seen.add((item.question, item.window.sha256))
        ids.add(item.id)


SET_CHECKS: dict[str, Callable[[NovelSet], Iterator[tuple[str, str]]]] = {
    "twins": _check_twins,
    "repetition": _check_repetition,
}
"""What is checked of the set as a whole."""
