"""The second proof: a plain count over the text of a window, which shares nothing with the planner.

It knows the published list of a book's names and the window's text, cuts the text into paragraphs and finds the names
in them itself, and asks every paragraph, with and without each of those that a hop rests on. `docs/novels.md` has the
rules of each kind of hop.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from hopwright.knowledge.books.name_words import load_name_words
from hopwright.novels.book_names import BookNames
from hopwright.novels.counted_text import (
    SOMEBODY,
    Paragraph,
    Seen,
    TextReader,
    cut_text,
    find_speaker,
    fold,
    list_quotes,
    read_heading,
)
from hopwright.novels.records import NovelHop, NovelItem

_LEAST_LEFT = 4
_ALLOWED = re.compile(r"\s+(#+)")
_ONWARD = ("reply", "mentioned", "site", "answered", "teller", "first", "last", "where", "chapters", "chapter")
"""Hops that without a paragraph lead to another answer."""
_PAIRED = ("companion", "place", "voice")


class WindowCounter:
    """Counts over the text of one window, as the book has it; `start` is its place there.

    `read` keeps the paragraphs that other windows of the same book have read already, by their places.
    """

    def __init__(self, names: BookNames, text: str, start: int, read: dict[int, Paragraph] | None = None) -> None:
        self._names = names
        self._reader = TextReader(names)
        known = {} if read is None else read
        self.paragraphs = [self._read_once(text[first:last], start + first, known) for first, last in cut_text(text)]
        self._chapters = [_find_chapter(names, one.start) for one in self.paragraphs]
        self._by_start = {one.start: number for number, one in enumerate(self.paragraphs)}
        self._headings = self._read_headings()

    def list_strange(self, text: str, allowed: Sequence[str]) -> list[str]:
        """The names of persons and places in a text that are none of the allowed ones."""
        rest = text
        for name in sorted(allowed, key=len, reverse=True):
            rest = rest.replace(name, "#" * len(name))
        return [
            rest[seen.start : seen.end]
            for seen in self._reader.find_names(rest)
            if not seen.thing and not seen.unnamed and not self._is_title(seen, text, rest)
        ]

    def _is_title(self, seen: Seen, text: str, rest: str) -> bool:
        """Whether it is the title of an allowed name behind it, and no name of its own: "King Louis" may be said of
        Louis, unless it means somebody else."""
        word = rest[seen.start : seen.end].rstrip(".")
        name = _ALLOWED.match(rest, seen.end)
        if seen.who or word not in load_name_words().titles or name is None:
            return False
        whole = " ".join(text[seen.start : name.end()].split())
        known, own = (self._names.forms.get(form, ()) for form in (whole, text[name.start(1) : name.end()]))
        return not known or bool(set(known) & set(own))

    def locate(self, hop: NovelHop) -> list[int]:
        """The numbers of the paragraphs that a hop states. Raises KeyError for one that does not begin there."""
        return [self._by_start[one.start] for one in hop.paragraphs]

    def refute(self, item: NovelItem, places: Sequence[Sequence[int]]) -> Iterator[str]:
        """What is wrong with an item; nothing where every hop is proven. `places`: of each hop, as `locate` gives."""
        used = [place for one in places for place in one]
        if len(used) != len(set(used)):
            yield "two hops rest on one paragraph"
        given: int | None = None
        if any(hop.step == "asked" for hop in item.hops):
            yield from self._refute_names(item)
        for hop, own in zip(item.hops, places, strict=True):
            called = self._call_chapter(own[0], hop.chapter) if hop.chapter else ""
            if called not in hop.question or called not in item.question:
                yield f"hop {hop.index}: the question does not say the volume of its chapter"
            for reason in self._refute_hop(hop, given if hop.depends_on else None, own):
                yield f"hop {hop.index}: {reason}"
            given = hop.entity
        for hop, own in zip(item.hops[:-1], places, strict=False):
            if any(self._ends_alike(item, hop.index, place) for place in own):
                yield f"hop {hop.index}: the chain ends alike without its paragraph"

    def _ends_alike(self, item: NovelItem, index: int, place: int) -> bool:
        """Whether a chain leads to its answer without a paragraph of one hop; from there on, for the hops before it do
        not rest on that."""
        shown = [one for one in range(len(self.paragraphs)) if one != place]
        last = item.hops[-1]
        found: set[int] = set()
        for hop in item.hops[index - 1 :]:
            if hop.step == "asked":
                # The paragraph is the only one that names its names.
                return False
            before = found
            if hop.index == index:
                before = {item.hops[index - 2].entity or 0} if hop.depends_on else {SOMEBODY}
            found = set()
            for given in before:
                if given < 0 and hop.depends_on:
                    found.add(SOMEBODY)
                    continue
                names = frozenset(hop.clues) | (frozenset([given]) if hop.depends_on else frozenset())
                found |= self._answer(hop, names, shown)[0]
        return found == {last.entity if last.entity is not None else int(last.answer)}

    def _refute_names(self, item: NovelItem) -> Iterator[str]:
        """Names in a model's questions that are none of the hop's: they could select a paragraph, too."""
        before: list[str] = []
        known: list[str] = []
        for hop in item.hops:
            clues = [self._names.find(clue).name for clue in hop.clues]
            if strange := self.list_strange(hop.question, [*clues, *before]):
                yield f"hop {hop.index}: the question holds {strange[0]!r}, which is none of its names"
            before, known = [hop.answer], [*known, *clues]
        if strange := self.list_strange(item.question, known):
            yield f"the question holds {strange[0]!r}, which is none of its names"

    def _refute_asked(self, hop: NovelHop, names: frozenset[int], given: int | None, place: int) -> Iterator[str]:
        """What is wrong with a hop that a model asked: its paragraph is the only one that names all its names, it has
        the answer, and the names without the answer before select several."""
        held = [number for number, one in enumerate(self.paragraphs) if names <= one.possible]
        one = self.paragraphs[place]
        if held != [place] or not names <= one.sure or not one.long_enough:
            yield f"{len(held)} paragraphs name its names, or its own does not surely"
        if hop.entity is not None and hop.entity not in one.sure:
            yield "its paragraph does not name the answer"
        if hop.entity is None and fold(hop.answer) not in one.folded:
            yield "its paragraph does not have the answer"
        if given is None:
            return
        clues = frozenset(hop.clues)
        if sum(clues <= other.possible for other in self.paragraphs) < 2:
            yield "its paragraph is found without the answer before it"

    def _refute_hop(self, hop: NovelHop, given: int | None, places: Sequence[int]) -> Iterator[str]:
        everything = range(len(self.paragraphs))
        names = frozenset(hop.clues) | (frozenset([given]) if given is not None else frozenset())
        if hop.step == "asked":
            yield from self._refute_asked(hop, names, given, places[0])
            return
        wanted = hop.entity if hop.entity is not None else int(hop.answer)
        for name in names:
            others = names - {name} or names
            if sum(others <= one.possible for one in self.paragraphs) < 2:
                yield "fewer of its names select the paragraph"
        answers, selected = self._answer(hop, names, everything)
        if answers != {wanted}:
            yield f"the text leaves {len(answers)} answers, or another one"
            return
        yield from self._refute_speech(hop, names, places)
        shown = self._list_shown(hop, everything)
        if hop.chapter and sum(names <= self.paragraphs[one].possible for one in shown) < 2:
            yield "its chapter names who is asked about once"
        own = places if hop.step == "chapters" else places[:1]
        if not all(self.paragraphs[place].long_enough for place in own):
            yield "its paragraph is too short"
        if not set(places) <= selected:
            yield "it does not rest on the paragraph that it states"
        if hop.step in ("speaker", *_PAIRED) and len(selected) != 1:
            yield f"{len(selected)} paragraphs meet its condition"
        for place in places:
            rest, _ = self._answer(hop, names, [one for one in everything if one != place])
            if rest == {wanted}:
                yield "the same answer is read without its paragraph"
            elif len(rest) == 1 and hop.step not in _ONWARD:
                yield "another paragraph takes the place of its own"
        if given is not None and len(self._leave_open(hop, everything)) < 2:
            yield "the answer follows without the one before it"

    def _refute_speech(self, hop: NovelHop, names: frozenset[int], places: Sequence[int]) -> Iterator[str]:
        """What is not sure of who speaks where a hop takes somebody for the speaker."""
        if hop.step not in ("reply", "mentioned", "site", "answered", "teller", "voice"):
            return
        for place in places:
            one = self.paragraphs[place]
            if len(one.voices) != 1 or one.shared or self._find_speakers(place) != one.voices:
                yield "who speaks is not sure"
        own = self.paragraphs[places[-1]]
        if hop.step in ("voice", "teller") and not names <= own.called:
            yield "its names are not spoken"
        if hop.step in ("mentioned", "site") and hop.entity not in own.called:
            yield "its answer is spoken of by another name"
        if hop.step in ("reply", "answered") and hop.entity in own.voices:
            yield "the next to speak is who spoke"
        if hop.step in ("mentioned", "site", "answered", "teller") and names:
            shown = [self.paragraphs[one] for one in self._list_shown(hop, range(len(self.paragraphs)))]
            if sum(names <= (one.spoken if hop.step == "teller" else one.voices) for one in shown) < 2:
                yield "who is asked about is heard once"

    def _list_shown(self, hop: NovelHop, shown: Iterable[int]) -> list[int]:
        """The shown paragraphs that a hop looks at: in order, and of its chapter, if another numbered one follows."""
        ordered = sorted(shown)
        if not hop.chapter:
            return ordered
        own = [number for number, heading in enumerate(self._headings) if heading == hop.chapter]
        if not own or own[-1] + 1 == len(self._headings) or self._headings[own[-1] + 1] is None:
            return []
        return [one for one in ordered if own[0] <= one <= own[-1]]

    def _answer(self, hop: NovelHop, names: frozenset[int], shown: Iterable[int]) -> tuple[set[int], set[int]]:
        """The answers that the shown paragraphs leave open, and which paragraphs say so."""
        if hop.quoted is not None:
            words = fold(_read_quoted(hop.question))
            held = {one for one in shown if words in self.paragraphs[one].folded}
            if hop.step != "speaker" and len(held) == 1:
                return self._listen(hop.step, min(held), sorted(shown), self._find_speakers(min(held), words))
            return {who for one in held for who in self._find_speakers(one, words)}, held
        if hop.step in _PAIRED:
            held = {one for one in shown if names <= self.paragraphs[one].possible}
            return {who for one in held for who in self._read_answer(hop.step, one, names)}, held
        if len(names) != 1:
            return set(), set()
        (name,) = names
        shown = self._list_shown(hop, shown)
        if hop.step in ("mentioned", "site", "answered"):
            heard = [one for one in shown if name in self.paragraphs[one].voices]
            return self._listen(hop.step, heard[-hop.final], shown, names) if heard else (set(), set())
        naming = [one for one in shown if name in self.paragraphs[one].possible]
        if hop.step == "teller":
            naming = [one for one in naming if name in self.paragraphs[one].spoken]
        if not naming:
            return set(), set()
        if hop.step == "chapters":
            return self._count_chapters(naming, name), {naming[0], naming[-1]}
        if hop.step == "chapter":
            return self._find_numbers(naming, name), {naming[-1]}
        place = naming[-hop.final]
        if hop.step == "teller":
            voices = self.paragraphs[place].voices
            return set(voices) if len(voices) == 1 else {*voices, SOMEBODY, -2}, {place}
        return self._read_answer("place" if hop.step == "where" else "companion", place, names), {place}

    def _read_answer(self, step: str, number: int, names: frozenset[int]) -> set[int]:
        one = self.paragraphs[number]
        answers: set[int] = set()
        if one.stranger or not names <= one.sure:
            answers.add(SOMEBODY)
        if step == "voice":
            return answers | self._find_speakers(number)
        kind = self._reader.persons if step == "companion" else self._reader.places
        others = (one.possible & kind) - names
        if not others <= one.sure or (one.things if step == "place" else one.unnamed):
            answers.add(SOMEBODY)
        return answers | others

    def _count_chapters(self, naming: Sequence[int], name: int) -> set[int]:
        """The numbers of chapters that stay possible: a paragraph that only may name somebody may be the first or last
        one, or not."""
        found: set[int] = set()
        for first in self._list_first(naming, name):
            for last in self._list_first(naming[::-1], name):
                (part, number), (other, after) = self._chapters[first], self._chapters[last]
                if part != other or not number or not after:
                    return {SOMEBODY, -2}
                found.add(after - number - 1)
        return found

    def _find_numbers(self, naming: Sequence[int], name: int) -> set[int]:
        """The numbers that stay possible of the last chapter that names somebody, as the headings in the window give
        them; somebody where one is not there, or stands for two chapters."""
        found: set[int] = set()
        for place in self._list_first(naming[::-1], name):
            number = self._headings[place]
            if number is None:
                return {SOMEBODY, -2}
            found.add(number)
        return found

    def _read_headings(self) -> list[int | None]:
        """For each paragraph the number in the heading of its chapter, if the window has it and no other of it."""
        starts = [one.start for one in self._names.chapters]
        spoken = [bisect_right(starts, one.start) - 1 for one in self.paragraphs]
        held = [self._names.chapters[chapter] for chapter in sorted(set(spoken) - {-1})]
        parts = {(one.part, one.volume) for one in held if one.number}
        if len(parts) > 1 and not all(volume for _, volume in parts):
            return [None] * len(spoken)
        numbers: dict[int, int] = {}
        every: list[int] = []
        for chapter in sorted(set(spoken) - {-1}):
            first = self._by_start.get(starts[chapter])
            number = read_heading(self.paragraphs[first].text) if first is not None else None
            if self._names.chapters[chapter].number and number is not None:
                numbers[chapter] = number
            # A chapter whose heading is before the window has the number of the list.
            every.append(number if number is not None else self._names.chapters[chapter].number)
        return [
            numbers[chapter] if chapter in numbers and every.count(numbers[chapter]) == 1 else None
            for chapter in spoken
        ]

    def _call_chapter(self, place: int, number: int) -> str:
        """How a question has to call the chapter of a paragraph."""
        start = self.paragraphs[place].start
        volume = next((one.volume for one in reversed(self._names.chapters) if one.start <= start), "")
        return f"{volume}, Chapter {number}" if volume else f"Chapter {number}"

    def _listen(
        self, step: str, place: int, shown: Sequence[int], speaker: frozenset[int] | set[int]
    ) -> tuple[set[int], set[int]]:
        """Whom the speaker of a paragraph names in it, or who else is the next to be named as speaking."""
        one = self.paragraphs[place]
        if step in ("mentioned", "site"):
            found = set(one.spoken & (self._reader.persons if step == "mentioned" else self._reader.places))
            more = one.unnamed if step == "mentioned" else one.things
            sure = found <= one.sure and not more and SOMEBODY not in one.spoken and one.voices == speaker
            return found if sure else {*found, SOMEBODY}, {place}
        following = next((other for other in shown if other > place and self.paragraphs[other].voices - speaker), None)
        if following is None:
            return set(), {place}
        voices = self.paragraphs[following].voices
        return set(voices) if len(voices) == 1 else {SOMEBODY, -2}, {place, following}

    def _list_first(self, naming: Sequence[int], name: int) -> Iterator[int]:
        for place in naming:
            yield place
            if name in self.paragraphs[place].sure:
                return

    def _leave_open(self, hop: NovelHop, shown: Sequence[int]) -> set[int]:
        """The answers that stay possible when nobody knows the answer before."""
        if hop.step in _PAIRED:
            answers, held = self._answer(hop, frozenset(hop.clues), shown)
            return answers - {SOMEBODY} if len(held) >= _LEAST_LEFT else set()
        shown = self._list_shown(hop, shown)
        found: set[int] = set()
        for other in sorted((self._reader.persons | self._reader.places) - set(hop.clues)):
            found |= {who for who in self._answer(hop, frozenset([other]), shown)[0] if who >= 0}
            if len(found) > 1:
                break
        return found

    def _find_speakers(self, number: int, words: str = "") -> set[int]:
        """Who surely speaks in a paragraph where a name stands right beside the words; with `words`, who says these,
        or somebody."""
        one = self.paragraphs[number]
        found: set[int] = set()
        people = [seen for seen in one.names if seen.who and seen.who <= self._reader.persons]
        starts = [seen.start for seen in people]
        closed = -1
        for start, end in list_quotes(one.text):
            before, closed = closed, end
            if words and words not in fold(one.text[start:end]):
                continue
            speaker = find_speaker(one.text, people, starts, (start, end), before)
            if len(speaker) == 1:
                found |= speaker
            elif words:
                found.add(SOMEBODY)
        return found or ({SOMEBODY} if words else set())

    def _read_once(self, text: str, start: int, known: dict[int, Paragraph]) -> Paragraph:
        held = known.get(start)
        if held is None or held.text != text:
            held = known[start] = self._reader.read(text, start)
        return held

def _find_chapter(names: BookNames, start: int) -> tuple[int, int]:
    """Part and number of the chapter that holds a place; (-1, 0) before the first."""
    held = (-1, 0)
    for chapter in names.chapters:
        if chapter.start > start:
            break
        held = chapter.part, chapter.number
    return held


def _read_quoted(question: str) -> str:
    match = re.search("“(.*)”", question, re.DOTALL)
    return match[1] if match else question
