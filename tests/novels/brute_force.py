"""A search that confirms questions about novels from released files and books, and knows no line of the product.

It reads the items as JSON, cuts the windows out of the books' files, splits them at blank lines, and looks for the
listed names with one regular expression. Then it runs a chain as a program over any set of paragraphs: all of them, and
all but one of a hop's.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

Answer = int | str
"""An entity's number, a number of chapters as digits, or UNSURE."""
UNSURE = "?"
"""What a paragraph answers that only may meet a condition, or may name somebody besides."""
NOBODY = -1
"""Who is not listed, as the queen in "Anne of Austria"."""
PAIRED = ("companion", "place", "voice")
NEXT = ("reply", "answered")
"""Hops that rest on the paragraph before the answer's, too."""
COUNTS = ("chapter", "chapters")
_GAP = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\S")
_HEADING = re.compile(
    r"^[ \t]*(?:(?i:chapter)[ \t]+((?i:[ivxlc]+)|\d+)\b|(\d{1,2})[ \t]+(?!(?:January|February|March|April|May|June|July"
    r"|August|September|October|November|December)\b)[A-Z])",
    re.MULTILINE,
)
"""A line that begins with a date is no heading."""
_SHOUTED = re.compile(r"\b[A-ZÀ-Þ]{2,}\b")
_OF_BEFORE = re.compile(r"[A-Z][a-z]+\s+of\s+$")
_SAID = (
    "said|says|cried|cries|replied|replies|answered|asked|asks|returned|returns|continued|exclaimed|added|observed"
    "|repeated|rejoined|remarked|murmured|whispered|resumed|interrupted|inquired|enquired|demanded|retorted|began"
    "|pursued|proceeded|shouted|screamed|muttered|sighed|growled|echoed|suggested|thought|went on|put in|broke in"
)
_AFTER_QUOTE = re.compile(rf"[”\"][\s,]*(?:{_SAID})\s+$")
_BESIDE_QUOTE = re.compile(r"[”\"][\s,]*$")
_THEN_SAID = re.compile(rf"\s+(?:{_SAID})\b")
_THEN_QUOTE = re.compile(rf"\s+(?:{_SAID})(?:\s+\w+){{0,3}}\s*[,:]\s*(?:--)?\s*[“\"]")

_PRESENT = "exclaims|adds|observes|repeats|remarks|murmurs|whispers|inquires|enquires|demands|interrupts|begins"
_ANY_SAID = re.compile(rf"\b(?:{_SAID}|{_PRESENT}|burst out)\b".replace("thought|", ""))
_VOLUME = re.compile(r"^[ \t]*VOLUME[ \t]+([IVXLC]+)[ \t]*\r?$", re.MULTILINE)
_WITHIN = re.compile(r"[a-zà-ÿ,;]\s+(?=([A-ZÀ-Þ][a-zà-ÿ]+))")
_LISTS = tomllib.loads(
    (Path(__file__).resolve().parents[2] / "hopwright" / "knowledge" / "books" / "names.toml").read_text("utf-8")
)
"""Lists of words, which are no code: titles, and what is capitalised and names nobody."""
_TITLES = {word for line in _LISTS["titles"].values() for word in line.split()}
_NO_PLACE = _TITLES | {word for line in _LISTS["nobody"].values() for word in line.split()}


@dataclass(frozen=True)
class Fault:
    """One claim of an item that does not hold: `window`, `words`, `span`, `selects`, `chain`, `needed`, `measures`."""

    claim: str
    reason: str


@dataclass(frozen=True)
class Named:
    """One name in a paragraph, and everybody whom it may mean; nobody where it is not known."""

    start: int
    end: int
    who: frozenset[int]


class Passage:
    """One paragraph of a window with the names in it; `start` counts the characters of the book."""

    def __init__(self, book: BookFiles, start: int, text: str) -> None:
        self.book, self.start, self.text = book, start, text
        found = list(book.find_names(text))
        forms = {one: " ".join(text[one.start : one.end].split()) for one in found}
        things = {one for one in found if forms[one] in book.things}
        nameless = {one for one in found if forms[one] in book.unnamed}
        self.names = [one for one in found if one not in things | nameless]
        self.has_nameless = bool(nameless)
        self.has_things = bool(things) or any(
            match[1] not in _NO_PLACE and not any(one.start < match.end(1) and match.end() < one.end for one in found)
            for match in _WITHIN.finditer(text)
        )
        self.shouted = book.find_shouted(text)
        self.maybe = {who for one in self.names for who in one.who} | self.shouted
        self.surely = {next(iter(one.who)) for one in self.names if len(one.who) == 1}
        self.has_strangers = any(not one.who for one in self.names)

    @cached_property
    def tokens(self) -> int:
        """How many words and marks it has."""
        return len(_TOKEN.findall(self.text))

    @cached_property
    def folded(self) -> str:
        """Its text as a question would quote it."""
        return fold(self.text)

    @cached_property
    def speakers(self) -> set[int]:
        """Whom a word of saying right beside a quotation names."""
        found: set[int] = set()
        for one in self.names:
            before, after = self.text[: one.start], self.text[one.end :]
            if self._is_told(one) and (
                _AFTER_QUOTE.search(before)
                or (_BESIDE_QUOTE.search(before) and _THEN_SAID.match(after))
                or _THEN_QUOTE.match(after)
            ):
                found |= one.who & self.book.persons
        return found

    @cached_property
    def voices(self) -> set[int]:
        """Whom names outside quotation marks may mean, where there are any."""
        if not re.search("[“”\"]", self.text):
            return set()
        told = [one for one in self.names if self._is_told(one)]
        people = {who for one in told for who in one.who} - self.book.places
        return people | {NOBODY for one in told if not one.who}

    @cached_property
    def said(self) -> set[int]:
        """Whom and what names inside quotation marks may mean."""
        inside = [one for one in self.names if not self._is_told(one)]
        return {who for one in inside for who in one.who} | {NOBODY for one in inside if not one.who}

    @cached_property
    def called(self) -> set[int]:
        """Whom names inside quotation marks surely mean by a word of the name that questions call them by."""
        found: set[int] = set()
        for one in self.names:
            if len(one.who) == 1 and not self._is_told(one):
                (who,) = one.who
                own = self.book.names.get(who, "").split()
                words = [word for word in own if word.rstrip(".") not in _TITLES] or own
                found |= {who} if set(words) & set(self.text[one.start : one.end].split()) else set()
        return found

    @cached_property
    def only_voice(self) -> int | None:
        """The one person who is named outside quotation marks, where a word of saying stands beside the name, and
        nobody else says any of the words."""
        if len(self.voices) != 1 or self.voices != self.speakers or not self._is_alone():
            return None
        return next(iter(self.voices))

    def _is_alone(self) -> bool:
        """Whether all words of saying outside the quotations stand beside names, and every quotation beside these."""
        told = [one for one in self.names if self._is_told(one) and one.who & self.book.persons]
        # One part of the text between two marks, and the next one inside: quotations have the odd numbers.
        parts = re.split("[“”\"]", self.text)
        place = 0
        beside: list[bool] = []
        leads: list[bool] = []
        goes_on: list[bool] = []
        for number, part in enumerate(parts):
            start, place = place, place + len(part) + 1
            if number % 2:
                continue
            shown = part
            for one in reversed(told):
                if start <= one.start < start + len(part):
                    shown = f"{shown[: one.start - start]}@{shown[one.end - start :]}"
            shown = re.sub(rf"{_ANY_SAID.pattern}\s+@|@\s+{_ANY_SAID.pattern}", "@@", shown)
            if _ANY_SAID.search(shown):
                return False
            tag = re.match(r"[\s,—-]*@@", shown)
            beside.append(tag is not None)
            leads.append(re.search(r"@@(?:\s+\w+){0,3}\s*[,:]\s*(?:--)?\s*$", shown) is not None)
            goes_on.append(tag is not None and re.search(r"[.!?]\W+\w", shown[tag.end() :]) is None)
        quotations = len(parts) // 2
        return all(
            leads[number] or (number > 0 and goes_on[number]) or (number + 1 < len(beside) and beside[number + 1])
            for number in range(quotations)
        )

    def _is_told(self, one: Named) -> bool:
        """Whether a name stands outside quotation marks."""
        before = self.text[: one.start]
        return before.count("“") <= before.count("”") and before.count('"') % 2 == 0


class BookFiles:
    """A book's file, and what the data set lists of it."""

    def __init__(self, listed: Mapping[str, Any], text: str) -> None:
        self.text = text
        self.names = {one["id"]: str(one["name"]) for one in listed["entities"]}
        self.aliases = {one["id"]: set(one["aliases"]) | {str(one["name"])} for one in listed["entities"]}
        self.persons = {one["id"] for one in listed["entities"] if one["kind"] == "person"}
        self.places = {one["id"] for one in listed["entities"] if one["kind"] == "place"}
        # A number that is not listed has no form of its own; it is a place where a form may mean a listed one, too.
        self.places |= {who for meant in listed["forms"].values() if self.places & set(meant) for who in meant}
        self.things = set(listed["things"])
        self.unnamed = set(listed.get("unnamed", ()))
        self._meant = {form: frozenset(who) for form, who in listed["forms"].items()}
        self.any_form = match_any(self._meant)
        self._last_words: dict[str, set[int]] = {}
        for who, names in self.aliases.items():
            for name in names:
                self._last_words.setdefault(name.split()[-1].casefold(), set()).add(who)
        self.any_name = match_any(self.names.values())
        self._passages: dict[tuple[int, int], Passage] = {}

    def find_names(self, text: str) -> Iterator[Named]:
        """The listed names in a text, the longest at each place."""
        for match in self.any_form.finditer(text):
            who = self._meant[" ".join(match[0].split())]
            if who & self.places and _OF_BEFORE.search(text, 0, match.start()):
                who |= {NOBODY}
            yield Named(match.start(), match.end(), who)

    def find_shouted(self, text: str) -> set[int]:
        """Whom words in capitals may mean: everybody who has a name that ends in one of them."""
        return {who for word in _SHOUTED.findall(text) for who in self._last_words.get(word.casefold(), ())}

    def cut(self, start: int, end: int) -> list[Passage]:
        """The paragraphs between two places of the book."""
        found: list[Passage] = []
        edges = [start, *(start + one for gap in _GAP.finditer(self.text[start:end]) for one in gap.span()), end]
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            if (first, last) not in self._passages:
                self._passages[first, last] = Passage(self, first, self.text[first:last])
            found.append(self._passages[first, last])
        return found

    def find_chapter(self, place: int) -> tuple[int, int]:
        """How many headings of chapters stand before a place, and the number in the last one."""
        numbers = [match[1] or match[2] for match in _HEADING.finditer(self.text[:place])]
        return len(numbers), read_number(numbers[-1]) if numbers else 0


class DataSet:
    """A folder that the command wrote, with the books' files."""

    def __init__(self, folder: Path, novels: Path) -> None:
        files = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in novels.iterdir() if path.is_file()}
        self.items = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").split("\n") if line]
        self.books: dict[str, BookFiles] = {}
        for path in sorted((folder / "books").glob("*.book.json")):
            listed = json.loads(path.read_text("utf-8"))
            text = files[listed["sha256"]].read_bytes().decode(listed["encoding"])
            self.books[listed["id"]] = BookFiles(listed, text)

    def refute(self, item: Mapping[str, Any]) -> list[Fault]:
        """What is wrong with an item; nothing where all of its claims hold."""
        return list(Chain(self.books[item["window"]["book"]], item).refute())


class Chain:
    """The chain of one item, in the paragraphs of its window."""

    def __init__(self, book: BookFiles, item: Mapping[str, Any]) -> None:
        self.book, self.item = book, item
        self.hops: Sequence[Mapping[str, Any]] = item["hops"]
        self.window = item["window"]
        self.passages = book.cut(self.window["start"], self.window["end"])
        self.everything = frozenset(range(len(self.passages)))
        self._places = {one.start: place for place, one in enumerate(self.passages)}
        last = self.hops[-1]
        self.answer: Answer = str(last["answer"]) if last["entity"] is None else int(last["entity"])

    def refute(self) -> Iterator[Fault]:
        """The claims that do not hold."""
        shown = self.book.text[self.window["start"] : self.window["end"]].replace("\r\n", "\n")
        if hashlib.sha256(shown.encode()).hexdigest() != self.window["sha256"]:
            yield Fault("window", "the hash is that of another text")
        yield from self._refute_words()
        yield from self._refute_spans()
        if any(one["start"] not in self._places for hop in self.hops for one in hop["paragraphs"]):
            yield Fault("span", "a paragraph does not begin where it is said to")
            return
        yield from self._refute_selection()
        if (found := self.run(self.everything)) != {self.answer}:
            yield Fault("chain", f"it leads to {self._show(found)}")
        yield from self.list_unneeded()
        yield from self._refute_measures()

    def list_unneeded(self) -> Iterator[Fault]:
        """The paragraphs of hops without which the chain leads to its answer all the same."""
        for hop in self.hops:
            for one in hop["paragraphs"]:
                if self.run(self.everything - {self._places[one["start"]]}) == {self.answer}:
                    yield Fault("needed", f"hop {hop['index']} ({hop['step']}): the chain can do without a paragraph")

    def run(self, shown: frozenset[int]) -> set[Answer]:
        """Everything to which the chain leads where these paragraphs alone are known."""
        found: set[Answer] = set()
        for hop in self.hops:
            before: set[Answer] = found if hop["depends_on"] else {UNSURE}
            found = set()
            for given in before:
                if not hop["depends_on"]:
                    found |= self._answer(hop, frozenset(hop["clues"]), shown)
                elif isinstance(given, int):
                    found |= self._answer(hop, frozenset([*hop["clues"], given]), shown)
                else:
                    found.add(UNSURE)
        return found

    def _refute_words(self) -> Iterator[Fault]:
        """The questions name those whom their hops need, and no answer."""
        before: set[int] = set()
        for hop in self.hops:
            named = self._find_named(hop["question"])
            if named != set(hop["clues"]) | (before if hop["depends_on"] else set()):
                yield Fault("words", f"hop {hop['index']}: the question names {self._show(named)}")
            before = {hop["entity"]}
            if hop["entity"] is not None and self.book.names[hop["entity"]] != hop["answer"]:
                yield Fault("words", f"hop {hop['index']}: the answer is another's name")
            if hop["chapter"] and not all(self._call_chapter(hop) in one["question"] for one in (hop, self.item)):
                yield Fault("words", f"hop {hop['index']}: the question does not say the chapter")
            ends = hop["step"] not in (*PAIRED, *COUNTS) and not hop["quoted"]
            if ends and f" {'last' if hop['final'] else 'first'} " not in hop["question"]:
                yield Fault("words", f"hop {hop['index']}: the question does not say which paragraph counts")
            if hop["quoted"] and self._read_quoted(hop).rstrip(".") not in fold(self.item["question"]):
                yield Fault("words", f"hop {hop['index']}: the question does not quote its words")
        if self._find_named(self.item["question"]) != {clue for hop in self.hops for clue in hop["clues"]}:
            yield Fault("words", "the question does not name exactly those whom its hops give")
        if self.item["answer"] != self.hops[-1]["answer"]:
            yield Fault("words", "the last hop has another answer")

    def _call_chapter(self, hop: Mapping[str, Any]) -> str:
        """How the questions call the chapter of a hop: with its volume, where the book has some."""
        headings = _VOLUME.findall(self.book.text, 0, hop["paragraphs"][0]["start"])
        return f"Volume {headings[-1]}, Chapter {hop['chapter']}" if headings else f"Chapter {hop['chapter']}"

    def _refute_spans(self) -> Iterator[Fault]:
        """Every answer is a name of whom it means, and stands in its hop's first paragraph."""
        for hop in self.hops:
            first = hop["paragraphs"][0]
            if hop["entity"] is None:
                continue
            start, end = hop["derivation"]["start"], hop["derivation"]["end"]
            if not first["start"] <= start < end <= first["end"]:
                yield Fault("span", f"hop {hop['index']}: the answer does not stand in its paragraph")
            if " ".join(self.book.text[start:end].split()) not in self.book.aliases[hop["entity"]]:
                yield Fault("span", f"hop {hop['index']}: the span is no name of the answer")

    def _refute_selection(self) -> Iterator[Fault]:
        """What each hop asks by selects its paragraph alone, and several without the answer before it."""
        given: int | None = None
        for hop in self.hops:
            own = self._places[hop["paragraphs"][-1 if hop["step"] in NEXT else 0]["start"]]
            names = {*hop["clues"], *([given] if hop["depends_on"] and given is not None else [])}
            if hop["quoted"]:
                words = self._read_quoted(hop)
                selected = [place for place, one in enumerate(self.passages) if words in one.folded]
            else:
                selected = [place for place in self._look(hop, self.everything) if self._meets(hop, place, names)]
            if hop["step"] in PAIRED or hop["quoted"]:
                if selected != [own]:
                    yield Fault("selects", f"hop {hop['index']}: {len(selected)} paragraphs meet its condition")
                clues = set(hop["clues"])
                if hop["depends_on"] and sum(clues <= one.maybe for one in self.passages) < 2:
                    yield Fault("selects", f"hop {hop['index']}: its paragraph is found without the answer before")
            elif len(selected) < 2 or own != selected[-1 if hop["final"] or hop["step"] in COUNTS else 0]:
                yield Fault("selects", f"hop {hop['index']}: it rests on another paragraph")
            given = hop["entity"]

    def _look(self, hop: Mapping[str, Any], shown: frozenset[int]) -> list[int]:
        """The shown paragraphs that a hop looks at, in order: those of its chapter, from its heading to the next."""
        if not hop["chapter"]:
            return sorted(shown)
        start, end = self.window["start"], self.window["end"]
        headings = [
            (start + one.start(), read_number(one[1] or one[2])) for one in _HEADING.finditer(self.book.text[start:end])
        ]
        numbers = [said for _, said in headings]
        if numbers != sorted(numbers) and not _VOLUME.search(self.book.text):
            return []
        own = [number for number, (_, said) in enumerate(headings) if said == hop["chapter"]]
        if len(own) != 1 or own[0] + 1 == len(headings):
            return []
        first, stop = headings[own[0]][0], headings[own[0] + 1][0]
        return [place for place in sorted(shown) if first <= self.passages[place].start < stop]

    def _meets(self, hop: Mapping[str, Any], place: int, names: set[int] | frozenset[int]) -> bool:
        """Whether a paragraph may be one that a hop asks about."""
        one = self.passages[place]
        if hop["step"] in ("mentioned", "site", "answered"):
            return names <= one.voices
        return names <= (one.said if hop["step"] == "teller" else one.maybe)

    def _answer(self, hop: Mapping[str, Any], names: frozenset[int], shown: frozenset[int]) -> set[Answer]:
        """What the shown paragraphs answer to a hop that asks by these names."""
        if hop["quoted"]:
            words = self._read_quoted(hop)
            places = sorted(shown)
            held = [place for place in places if words in self.passages[place].folded]
            speakers = frozenset(who for place in held for who in self.passages[place].speakers)
            if hop["step"] == "speaker" or not held:
                return {*speakers}
            return self._hear(hop["step"], held[0], places, speakers)
        places = self._look(hop, shown)
        held = [place for place in places if self._meets(hop, place, names)]
        if not held:
            return set()
        end = held[-1 if hop["final"] else 0]
        if hop["step"] in PAIRED:
            return {who for place in held for who in self._read(place, hop["step"], names)}
        if hop["step"] == "chapters":
            return self._count_chapters(held, names)
        if hop["step"] == "chapter":
            return self._read_chapter(held, names)
        if hop["step"] in ("mentioned", "site", "answered"):
            return self._hear(hop["step"], end, places, names)
        if hop["step"] == "teller":
            one = self.passages[end]
            sure = one.only_voice is not None and names <= one.surely & one.called
            return {*one.voices, *(() if sure else (UNSURE,))}
        return self._read(end, "place" if hop["step"] == "where" else "companion", names)

    def _read(self, place: int, step: str, names: frozenset[int]) -> set[Answer]:
        one = self.passages[place]
        # Whoever is not listed is no place: they are people without a name of their own.
        others = one.maybe & self.book.places if step == "place" else one.maybe - self.book.places
        found = one.speakers if step == "voice" else others - names
        unsure = not names | found <= one.surely or one.has_strangers or (step == "place" and one.has_things)
        unsure = unsure or (step == "companion" and one.has_nameless)
        unsure = unsure or (step == "voice" and (one.only_voice is None or not names <= one.called))
        return {*found, *((UNSURE,) if unsure else ())}

    def _hear(self, step: str, place: int, places: Sequence[int], speaker: frozenset[int]) -> set[Answer]:
        """Whom or which place a speaker names in a paragraph, or who else is the next to be named as speaking."""
        one = self.passages[place]
        sure = {one.only_voice} == speaker
        if step in ("mentioned", "site"):
            found = one.said & self.book.places if step == "site" else one.said - self.book.places
            sure = sure and found <= one.surely & one.called and NOBODY not in one.said
            sure = sure and not (one.has_things if step == "site" else one.has_nameless)
            return {*(found - {NOBODY}), *(() if sure else (UNSURE,))}
        after = [self.passages[other] for other in places if other > place and self.passages[other].voices - speaker]
        if not after:
            return set()
        return {*after[0].voices} if sure and after[0].only_voice is not None else {UNSURE}

    def _read_chapter(self, naming: Sequence[int], names: frozenset[int]) -> set[Answer]:
        """The number in the heading of the chapter that names somebody last; unsure without that heading, or where the
        window has another of that number."""
        start, end = self.window["start"], self.window["end"]
        headings = list(_HEADING.finditer(self.book.text[start:end]))
        numbers = [read_number(one[1] or one[2]) for one in headings]
        before = self.book.find_chapter(start)
        # A window that begins with a heading has nothing of the chapter before.
        own = [before[1]] if not headings or headings[0].start() > 60 else []
        found: set[Answer] = set()
        for place in self._list_ends(naming[::-1], names):
            count, number = self.book.find_chapter(self.passages[place].start)
            single = [*own, *numbers].count(number) == 1 and count > before[0]
            found.add(f"{number}" if single else UNSURE)
        return found

    def _count_chapters(self, naming: Sequence[int], names: frozenset[int]) -> set[Answer]:
        """How many chapters lie between the first and the last paragraph that name somebody, by the headings; several
        numbers where the first or the last only may name them, unsure where the headings are not in sequence."""
        found: set[Answer] = set()
        for first in self._list_ends(naming, names):
            for last in self._list_ends(naming[::-1], names):
                before, after = (self.book.find_chapter(self.passages[place].start) for place in (first, last))
                passed = after[0] - before[0]
                found.add(f"{passed - 1}" if passed == after[1] - before[1] else UNSURE)
        return found

    def _list_ends(self, naming: Sequence[int], names: frozenset[int]) -> Iterator[int]:
        """The paragraphs that may be the first: all up to the one that surely is."""
        for place in naming:
            yield place
            if names <= self.passages[place].surely:
                return

    def _refute_measures(self) -> Iterator[Fault]:
        """Distances, depth and length are what the item says."""
        places = [self._places[hop["paragraphs"][0]["start"]] for hop in self.hops]
        apart = [self._count(min(pair), max(pair)) for pair in pairwise(places)]
        if apart != self.item["distances"]:
            yield Fault("measures", f"the hops are {apart} tokens apart")
        tokens = self._count(0, len(self.passages))
        if tokens != self.window["tokens"] or tokens > self.window["length"]:
            yield Fault("measures", f"the window has {tokens} tokens")
        if abs(self._count(0, places[-1]) / tokens - self.item["depth"]) > 0.0001:
            yield Fault("measures", "the answer stands at another depth")

    def _count(self, first: int, stop: int) -> int:
        return sum(one.tokens for one in self.passages[first:stop])

    def _find_named(self, question: str) -> set[int]:
        """Whom a question names outside what it quotes."""
        found = self.book.any_name.findall(re.sub("“.*”", "", question))
        return {who for who, name in self.book.names.items() if name in found}

    def _read_quoted(self, hop: Mapping[str, Any]) -> str:
        return fold(self.book.text[hop["quoted"]["start"] : hop["quoted"]["end"]])

    def _show(self, found: set[Any]) -> str:
        return ", ".join(sorted(self.book.names.get(one, str(one)) for one in found)) or "nobody"


def match_any(words: Any) -> re.Pattern[str]:
    """A pattern for any of these words, the longest first, however they are spaced."""
    ordered = sorted(words, key=len, reverse=True)
    spaced = [r"\s+".join(map(re.escape, one.split())) for one in ordered]
    # An underscore marks emphasis and is no part of a name.
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(spaced)})(?![^\W_])")


def fold(text: str) -> str:
    """A text without emphasis, on one line."""
    return " ".join(text.replace("_", "").split())


def read_number(word: str) -> int:
    """A number in Roman or Arabic digits."""
    if word.isdigit():
        return int(word)
    digits = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[letter] for letter in word.casefold()]
    return sum(-one if one < after else one for one, after in zip(digits, [*digits[1:], 0], strict=True))
