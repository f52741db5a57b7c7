"""Twins: the same chain in the same window, in which everybody and every place is called otherwise.

The renamed book is read as any other: its names are found anew, every chain is proven anew, and counted anew. A twin
exists only where all of that holds.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hopwright.knowledge.books.mentions import NameFinder
from hopwright.knowledge.books.windows import make_window
from hopwright.novels.drafting import ModelWords, NovelDrafter
from hopwright.novels.records import NovelItem, Stretch
from hopwright.novels.renaming import Renaming, list_core_words, make_renaming, rename_book
from hopwright.novels.shelf import read_novel
from hopwright.planning.mention_steps import Step
from hopwright.records import Surrogate
from hopwright.settings import NovelDrawing
from hopwright.wording.rules.mention_wording import WordedChain


class TwinMaker:
    """Makes the twins of one book's items."""

    def __init__(self, drafter: NovelDrafter, parameters: NovelDrawing, finder: NameFinder | None = None) -> None:
        book, graph = drafter.novel.book, drafter.novel.graph
        self._original = drafter
        self.renaming: Renaming = make_renaming(book, graph, parameters.seed)
        same = tuple(tuple(self.renaming.rename(name) for name in names) for names in book.same)
        renamed = replace(rename_book(book, self.renaming.edits), same=same)
        self.drafter = NovelDrafter(read_novel(renamed, parameters.tokenizer, finder), parameters)
        self._quotes = {
            (quoted.block, start): number
            for number, (start, _) in self.drafter.novel.reader.quotes.items()
            for quoted in [self.drafter.novel.graph.quotations[number]]
        }
        self._entities: dict[int, int | None] = {}

    def make(self, item: NovelItem) -> NovelItem | str:
        """The twin of an item, or why it has none."""
        placed = self._original.placed[item.id]
        words = self._carry_words(placed.words) if placed.words else None
        if item.hops[-1].entity is None and words is None:
            return "the answer is a number or a thing, which no name changes"
        steps = tuple(self._carry(step) for step in placed.steps)
        if any(one is None for one in steps):
            return "the renamed text does not tell who is who"
        made = self.drafter.make_placed(
            make_window(self.drafter.novel.book, self.drafter.novel.reader.table, placed.first, item.window.length),
            tuple(one for one in steps if one is not None),
            words,
        )
        if isinstance(made, str):
            return made
        named = {who for hop in item.hops for who in (*hop.clues, *([hop.entity] if hop.entity is not None else []))}
        entities = [self._original.names.find(who) for who in sorted(named)]
        if left := self._find_left([alias for one in entities for alias in one.aliases], made):
            return left
        world = tuple(Surrogate(original=one.name, surrogate=self.renaming.rename(one.name)) for one in entities)
        return made.model_copy(
            update={"variant": "counterfactual", "twin": item.id, "world": world, "id": f"{item.id}-twin"}
        )

    def _carry_words(self, words: ModelWords) -> ModelWords | None:
        """A model's words with the new names; None where its answer has none."""
        book = self.drafter.novel.book
        start = self.renaming.move(words.answer.start)
        span = Stretch(start=start, end=self.renaming.move(words.answer.end))
        old = self._original.novel.book.text[words.answer.start : words.answer.end]
        if book.text[span.start : span.end] == old:
            return None
        names: dict[str, str] = {}
        for one in self._original.names.entities:
            if (found := self._find(one.id)) is not None:
                names[one.name] = self.drafter.novel.graph.entities[found].name
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?!\w)")
        question, *hops = (
            pattern.sub(lambda match: names[match[0]], text) for text in (words.chain.question, *words.chain.hops)
        )
        return replace(words, chain=WordedChain(question, tuple(hops)), answer=span)

    def _carry(self, step: Step) -> Step | None:
        """The step in the renamed book; None where somebody is not found again, or is called by another's names."""
        clues = [self._find(clue) for clue in step.clues]
        answer = step.answer if step.ends else self._find(step.answer)
        quotation = -1
        if step.quotation >= 0:
            quotation = self._find_quotation(step)
            if quotation < 0:
                return None
        if answer is None or any(one is None for one in clues):
            return None
        return replace(
            step, clues=tuple(one for one in clues if one is not None), answer=answer, quotation=quotation
        )

    def _find(self, entity: int) -> int | None:
        if entity not in self._entities:
            graph, old = self.drafter.novel.graph, self._original.names.find(entity)
            words = list_core_words(self.renaming.rename(alias) for alias in old.aliases)
            found = graph.surfaces.get(self.renaming.rename(old.name), ())
            alike = len(found) == 1 and list_core_words(graph.entities[found[0]].aliases) == words
            self._entities[entity] = found[0] if alike else None
        return self._entities[entity]

    def _find_quotation(self, step: Step) -> int:
        old = self._original.novel
        start, end = old.reader.quotes[step.quotation]
        words = old.book.text[start:end]
        block = step.places[-1]
        for (held, first), number in self._quotes.items():
            if held == block and self.drafter.novel.book.text[first : first + len(words)] == words:
                return number
        return -1

    def _find_left(self, names: list[str], made: NovelItem) -> str:
        """What of the old names is left in the twin's window or words; empty where nothing is."""
        book = self.drafter.novel.book
        text = f"{made.question}\n{book.text[made.window.start : made.window.end]}"
        for name in names:
            # The search for the plain text is the fast one, and finds nothing in most windows.
            if name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                return "an old name is left in the window"
        return ""
