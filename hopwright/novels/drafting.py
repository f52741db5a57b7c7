"""From a book to proven items: windows, chains, words, and the second proof of each."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import MentionGraph
from hopwright.knowledge.books.windows import Window, find_mention, hash_window, list_windows, place_window
from hopwright.knowledge.named_windows import NamedWindow
from hopwright.novels.book_names import BookNames, describe_book
from hopwright.novels.counted_text import Paragraph
from hopwright.novels.counting import WindowCounter
from hopwright.novels.records import NovelHop, NovelItem, Stretch, WindowRef, make_family, make_novel_id
from hopwright.novels.shelf import ReadNovel
from hopwright.planning.mention_chains import ChainDrawer, ChainTally, ProvenChain, measure_chain, select_chains
from hopwright.planning.mention_proofs import Refuted, StepProof, WindowProver
from hopwright.planning.mention_steps import Step
from hopwright.records import CheckResult, Compute, Evidence, Provenance, ReadSpan, Source, Span
from hopwright.settings import NovelDrawing
from hopwright.wording.rules.mention_wording import Given, NamedStep, WordedChain, quote_words, word_chain

Tell = Callable[[str], None]
K = 1024
TOPOLOGIES = {1: "chain-1", 2: "chain-2", 3: "chain-3", 4: "chain"}
_LEAST_MENTIONS, _LEAST_IN_ONE = 3, 5
_LEAST_DRAWN = 60
_WINDOWS_TRIED = 4
_WINDOWS_KEPT = 150
_UNNAMED = re.compile(r"^(?:Messrs\.? |Old |Young )|^(?:Papa|Mamma|Ma|Pa)$|^Misse?s ")


@dataclass(slots=True)
class NovelCounts:
    """What came of a book: chains that were drawn, those that a proof refused, by reason, and what was made."""

    drawn: int = 0
    proven: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """For a file and `--json`."""
        return {
            "drawn": self.drawn, "proven": self.proven, "refused": dict(sorted(self.refused.items())),
            "made": dict(sorted(self.made.items())), "left_out": dict(sorted(self.left_out.items())),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Opened:
    """A window with all that proves chains on it."""

    window: Window
    view: NamedWindow
    prover: WindowProver
    ref: WindowRef


@dataclass(frozen=True, slots=True)
class ModelWords:
    """What a model made of a chain: its words, the span of its last answer, and who it was."""

    chain: WordedChain
    answer: Stretch
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Placed:
    """An item's chain: the first block of its window, its steps by blocks of the book, and a model's words."""

    first: int
    steps: tuple[Step, ...]
    words: ModelWords | None = None


class NovelDrafter:
    """Makes the items of one book. The same book, parameters and seed give the same items.

    by_model: draw chains whose words a model has to find (`hopwright.novels.asked`).
    """

    def __init__(self, novel: ReadNovel, parameters: NovelDrawing, *, by_model: bool = False) -> None:
        self.novel = novel
        self.names = describe_book(novel.book, novel.graph)
        self.counts = NovelCounts()
        self.placed: dict[str, Placed] = {}
        # By length, a window that proves each chain.
        self.drawn_in: dict[tuple[Step, ...], dict[int, Window]] = {}
        self._parameters = parameters
        self._by_model = by_model
        self._lengths = sorted({K * int(one.removesuffix("k")) for one in parameters.lengths})
        self._document = novel.book.to_document()
        self._asked = pick_asked(novel.book, novel.graph)
        self._opened: dict[tuple[int, int], Opened] = {}
        self._counters: dict[tuple[int, int], WindowCounter] = {}
        self._read: dict[int, Paragraph] = {}
        table = novel.reader.table
        self._windows = {
            length: list_windows(novel.book, table, length, find_stride(table.sums[-1], length))
            for length in self._lengths
        }

    def make(self, tell: Tell) -> list[NovelItem]:
        """All items: each chosen chain in one window of every length in which it is proven."""
        items: list[NovelItem] = []
        drawn = self.draw(tell)
        title = self.novel.book.title
        for hops in sorted(drawn):
            tell(f"{title}: wording chains of {hops} hops")
            key = f"{self.novel.book.id}:{hops}"
            kept = 0
            for chain in select_chains(drawn[hops], 2 * self._parameters.items, self._parameters.seed, key):
                made = list(self.make_family(chain.steps))
                items += made
                kept += bool(made)
                if kept == self._parameters.items:
                    break
            self.counts.made[f"{hops} hops, chains"] = kept
        self.count_made(items)
        return items

    def count_made(self, items: Sequence[NovelItem]) -> None:
        """Count the items that are kept by hops and lengths."""
        for item in items:
            self.counts.made[f"{len(item.hops)} hops, {item.window.length // K}k"] += 1

    def open(self, window: Window) -> Opened:
        """A window with what proves chains on it, made once."""
        key = (window.first, window.length)
        _keep_few(self._opened)
        if key not in self._opened:
            book, table = self.novel.book, self.novel.reader.table
            view = self.novel.reader.view(window)
            ref = WindowRef(
                book=book.id, start=window.start, end=window.end, length=window.length, tokens=window.tokens,
                tokenizer=table.tokenizer, sha256=hash_window(book, window),
            )  # fmt: skip
            self._opened[key] = Opened(window, view, WindowProver(view), ref)
        return self._opened[key]

    def count(self, window: WindowRef) -> WindowCounter:
        """The counter of a window, made once."""
        key = (window.start, window.end)
        _keep_few(self._counters)
        if key not in self._counters:
            text = self.novel.book.text[window.start : window.end]
            self._counters[key] = WindowCounter(self.names, text, window.start, self._read)
        return self._counters[key]

    def draw(self, tell: Tell) -> dict[int, list[ProvenChain]]:
        """Proven chains by hops, their places being blocks of the book; each once, wherever it was drawn."""
        wanted, parameters = [int(one) for one in self._parameters.hops], self._parameters
        windows = [window for held in self._windows.values() for window in held]
        most = max(_LEAST_DRAWN, 12 * parameters.items // max(len(windows), 1))
        found: dict[int, dict[tuple[Step, ...], ProvenChain]] = {hops: {} for hops in wanted}
        tally = ChainTally(0, 0, Counter())
        for number, window in enumerate(windows, start=1):
            tell(f"{self.novel.book.title}: window {number:,} of {len(windows):,}")
            opened = self.open(window)
            key = f"{self.novel.book.id}:{window.length}:{window.first}"
            drawer = ChainDrawer(
                opened.view, window.tokens, self._asked, parameters.seed, key, by_model=self._by_model
            )
            for hops in wanted:
                for chain in drawer.draw(hops, most, tally, parameters.distance, parameters.distance_most):
                    steps = tuple(_shift(step, window.first) for step in chain.steps)
                    found[hops].setdefault(steps, replace(chain, steps=steps))
                    self.drawn_in.setdefault(steps, {}).setdefault(window.length, window)
        self.counts.drawn += tally.drawn
        self.counts.proven += tally.proven
        self.counts.refused.update(tally.refuted)
        return {hops: list(held.values()) for hops, held in found.items()}

    def make_family(self, steps: tuple[Step, ...], words: ModelWords | None = None) -> Iterator[NovelItem]:
        """The items of a chain, one for each length in which it is proven, or for each length and depth; with the words
        of a model, if they are given."""
        if self._parameters.depths:
            yield from self._make_at_depths(steps, words)
            return
        blocks = [place for step in steps for place in step.places]
        refused: list[str] = []
        made = False
        for length in self._lengths:
            fitting = [one for one in self._windows[length] if one.first <= min(blocks) and max(blocks) < one.stop]
            rng = random.Random(f"{self._parameters.seed}:{self.novel.book.id}:{length}:{blocks}")
            rng.shuffle(fitting)
            tried = fitting[:_WINDOWS_TRIED]
            # Where it was drawn, it is proven; other windows before that one, so that not all chains share a few.
            drawn = self.drawn_in.get(steps, {}).get(length)
            if drawn is not None and drawn not in tried:
                tried.append(drawn)
            for window in tried:
                item = self.make_placed(window, steps, words)
                if isinstance(item, str):
                    refused.append(item)
                    continue
                made = True
                yield item
                break
        if refused and not made:
            self.counts.left_out[refused[-1]] += 1

    def _make_at_depths(self, steps: tuple[Step, ...], words: ModelWords | None) -> Iterator[NovelItem]:
        """The items of a chain in windows that are cut so that its answer stands at each of the depths."""
        book, table = self.novel.book, self.novel.reader.table
        blocks = [place for step in steps for place in step.places]
        for length in self._lengths:
            cut: set[int] = set()
            for depth in self._parameters.depths:
                window = place_window(book, table, blocks, steps[-1].places[0], depth, length)
                if window is None or window.first in cut:
                    self.counts.left_out["at a depth: its paragraphs do not fit into one window"] += 1
                    continue
                cut.add(window.first)
                item = self.make_placed(window, steps, words)
                if isinstance(item, str):
                    self.counts.left_out[item] += 1
                else:
                    yield item

    def make_placed(
        self, window: Window, steps: tuple[Step, ...], words: ModelWords | None = None
    ) -> NovelItem | str:
        """The item of a chain in a window, or why it is none there; `words` are a model's."""
        opened = self.open(window)
        shifted = tuple(_shift(step, -window.first) for step in steps)
        proofs = opened.prover.prove(shifted)
        if isinstance(proofs, Refuted):
            return f"in another window: {proofs.proof}"
        chain = measure_chain(opened.view, window.tokens, shifted, proofs)
        return self._make_item(opened, chain, steps, words)

    def _make_item(
        self, opened: Opened, placed: ProvenChain, steps: tuple[Step, ...], words: ModelWords | None
    ) -> NovelItem | str:
        """The item of a chain in a window, or why there is none."""
        book, graph = self.novel.book, self.novel.graph
        quoted = [self._find_quoted(step) for step in steps]
        stretches = [tuple(_make_stretch(book, block) for block in step.places) for step in steps]
        family = make_family(book.id, list(zip(steps, stretches, quoted, strict=True)))
        worded = words.chain if words else word_chain(
            [self._name(step, said) for step, said in zip(steps, quoted, strict=True)],
            [self._give(step) for step in steps[:-1]],
        )  # fmt: skip
        hops = tuple(
            self._make_hop(number, step, question, said, places, before.answer if before else None, words)
            for number, (step, before, question, said, places) in enumerate(
                zip(steps, (None, *steps[:-1]), worded.hops, quoted, stretches, strict=True), start=1
            )
        )
        if leaked := find_leak(worded.question, hops, graph):
            return f"leak: {leaked}"
        last = hops[-1]
        item = NovelItem(
            id=make_novel_id(opened.ref, family, "factual"),
            topology=TOPOLOGIES[len(hops)],
            hops=hops,
            question=worded.question,
            answer=last.answer,
            answer_aliases=last.answer_aliases,
            checks=_list_checks(placed.proofs),
            provenance=words.provenance
            if words
            else Provenance(seed=self._parameters.seed, sources=(describe_source(self.names),)),
            window=opened.ref,
            family=family,
            distances=placed.distances,
            depth=placed.depth,
        )
        counter = self.count(opened.ref)
        try:
            places = [counter.locate(hop) for hop in hops]
        except KeyError:
            return "second proof: a paragraph is not found in the text"
        if reason := next(counter.refute(item, places), None):
            return f"second proof: {steps[int(reason[4]) - 1].kind if reason[:4] == 'hop ' else ''}: {reason[7:]}"
        self.placed[item.id] = Placed(opened.window.first, steps, words)
        return item

    def _make_hop(
        self,
        number: int,
        step: Step,
        question: str,
        quoted: Stretch | None,
        places: tuple[Stretch, ...],
        given: int | None,
        words: ModelWords | None,
    ) -> NovelHop:
        graph = self.novel.graph
        free = words.answer if words and step.ends else None
        who = self._find_named(step.places[0], free) if free else None if step.ends else step.answer
        entity = None if who is None else graph.entities[who]
        names = (*step.clues, *([given] if given is not None and step.follows else []))
        # Who speaks before stands in the paragraph of that, who speaks next in the first.
        before = step.places[-1:]
        own = {"answered": before, "chapters": step.places}.get(step.kind, step.places[:1])
        spans = [self._cite(place, name) for place in own for name in names]
        if free is not None:
            spans.insert(0, self._document.cite(free.start, free.end))
        elif entity is not None:
            spans.insert(0, self._cite(step.places[0], entity.id))
        said = " ".join(self.novel.book.text[free.start : free.end].split()) if free else f"{step.answer:,}"
        # An answer that a model chose is published as its paragraph has it, one on the way as the next hop asks by it.
        answer = said if free or entity is None else entity.name
        aliases = {entity.name: None, **dict.fromkeys(entity.aliases)} if entity else {}
        return NovelHop(
            index=number,
            question=question,
            answer=answer,
            answer_type="entity" if entity else "string" if free else "number",
            answer_id=f"{entity.kind}-{entity.id}" if entity else None,
            answer_aliases=tuple(one for one in aliases if one != answer),
            depends_on=(number - 1,) if step.follows and number > 1 else (),
            derivation=self._derive(step, spans),
            evidence=Evidence.of(spans=spans),
            step=step.kind,
            clues=step.clues,
            entity=entity.id if entity else None,
            paragraphs=places,
            quoted=quoted,
            chapter=step.chapter,
            final=step.final,
        )

    def _find_named(self, block: int, span: Stretch) -> int | None:
        """Whom a span surely names; None where it is no whole name."""
        for mention in self.novel.graph.by_block[block]:
            if (mention.start, mention.end) == (span.start, span.end) and mention.sure:
                return mention.entities[0]
        return None

    def _derive(self, step: Step, spans: Sequence[Span]) -> ReadSpan | Compute:
        if step.kind == "chapter":
            return Compute(expression=str(step.answer), kind="counting")
        if step.kind != "chapters":
            return ReadSpan(document=self.novel.book.id, start=spans[0].start, end=spans[0].end)
        blocks, chapters = self.novel.book.blocks, self.names.chapters
        last, first = (chapters[blocks[place].chapter].number for place in step.places)
        return Compute(expression=f"{last} - {first} - 1", kind="counting")

    def _cite(self, block: int, entity: int) -> Span:
        """The name in a paragraph that surely means somebody."""
        mention = find_mention(self.novel.graph, block, entity)
        return self._document.cite(mention.start, mention.end)

    def _find_quoted(self, step: Step) -> Stretch | None:
        if step.quotation < 0:
            return None
        start, end = self.novel.reader.quotes[step.quotation]
        return Stretch(start=start, end=end)

    def _name(self, step: Step, quoted: Stretch | None) -> NamedStep:
        entities = [self.novel.graph.entities[clue] for clue in step.clues]
        words = quote_words(self.novel.book.text[quoted.start : quoted.end]) if quoted else ""
        chapter = self.novel.book.chapters[self.novel.book.blocks[step.places[0]].chapter]
        volume = chapter.volume if step.chapter else ""
        return NamedStep(step, tuple((one.name, one.kind) for one in entities), words, volume)

    def _give(self, step: Step) -> Given:
        entity = self.novel.graph.entities[step.answer]
        return Given(entity.name, entity.kind)


def _keep_few(held: dict[tuple[int, int], Any]) -> None:
    """Forget the oldest windows of many; those that chains are drawn in are fewer."""
    while len(held) >= _WINDOWS_KEPT:
        del held[next(iter(held))]


def find_stride(total: int, length: int) -> int:
    """Tokens from one window to the next: a quarter of a window, and less in a short book, so that there are ten."""
    return max(min(length // 4, (total - length) // 10), 256)


def pick_asked(book: Book, graph: MentionGraph) -> frozenset[int]:
    """Whom questions may name and ask for: what is named often enough, by a name that is somebody's own.

    Who is named a few times in one chapter alone may be a figure of speech, or somebody of whom a tale is told.
    """
    chapters: dict[int, set[int]] = defaultdict(set)
    for mention in graph.mentions():
        if mention.sure:
            chapters[mention.entities[0]].add(book.blocks[mention.block].chapter)
    return frozenset(
        one.id for one in graph.entities
        if one.mentions >= (_LEAST_MENTIONS if len(chapters[one.id]) > 1 else _LEAST_IN_ONE)
        and not _UNNAMED.search(one.name)
    )  # fmt: skip


def find_leak(question: str, hops: Sequence[NovelHop], graph: MentionGraph) -> str:
    """What a question names though it asks for it; empty where it does not."""
    rest = question
    for hop in hops:
        for clue in sorted((graph.entities[clue].name for clue in hop.clues), key=len, reverse=True):
            rest = rest.replace(clue, "#")
    for hop in hops:
        for name in (hop.answer, *hop.answer_aliases):
            if hop.answer_type != "number" and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", rest):
                return "the question names an answer"
    return ""


def describe_source(names: BookNames) -> Source:
    """The book as the source of items: their places mean nothing in another file."""
    return Source(name=f"{names.title} ({names.source})", licence=names.licence, snapshot=names.sha256, pins_ids=True)


def _list_checks(proofs: Sequence[StepProof]) -> tuple[CheckResult, ...]:
    """What was counted when the chain was proven."""
    without = [str(len(answers)) for proof in proofs for answers in proof.without]
    left = [str(proof.left) for proof in proofs if proof.left is not None]
    rows = [
        ("unique", "one paragraph meets each condition"),
        ("needed", f"answers without each paragraph: {', '.join(without)}"),
    ]
    if left:
        rows.append(("chained", f"answers without the one before: at least {', '.join(left)}"))
    rows.append(("counted", "a second count over the text agrees"))
    return tuple(CheckResult(name=name, outcome="pass", reason=reason) for name, reason in rows)


def _shift(step: Step, by: int) -> Step:
    return replace(step, places=tuple(place + by for place in step.places))


def _make_stretch(book: Book, block: int) -> Stretch:
    return Stretch(start=book.blocks[block].start, end=book.blocks[block].end)
