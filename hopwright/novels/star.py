"""The paper's own way (NovelHopQA, sections 3.2 to 3.5): a model asks over paragraphs that share one keyword.

A keyword that occurs often in the book opens a chain; each further paragraph holds it and a keyword that the model
names from the paragraphs so far; after every paragraph the question is asked anew over all of them. No paragraph is
used twice. All paragraphs lie in one window. Where the paper leaves something open, this is what is done:

- keywords that open chains are names of the book's mention graph, where the paper has a model name them by the title;
- an answer is a span of one of the paragraphs, letter for letter, or the model is asked once more;
- a question stays where every filter model gives one of the answer's spellings from the golden paragraphs. The paper
  discards what any model misses, and yet states accuracies below 100 % on these paragraphs.

No hop needs the answer of another: nothing is proven of these questions but that.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hopwright.knowledge.books.windows import Window, hash_window, list_windows
from hopwright.llm.answers import AskedParagraphs, NamedKeyword
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Outcome, Request, Response, parse_model
from hopwright.novels.book_names import describe_book
from hopwright.novels.drafting import K, NovelCounts, Tell, describe_source, find_stride
from hopwright.novels.golden import Complete, keep_answered
from hopwright.novels.records import NovelHop, NovelItem, Stretch, WindowRef, make_novel_id
from hopwright.novels.shelf import ReadNovel
from hopwright.records import CheckResult, Evidence, Provenance, ReadSpan
from hopwright.settings import NovelStarParameters

_RESTARTS = 3
_GAP = "\n\n"


@dataclass(slots=True)
class _Stage:
    """One paragraph of a chain, with what was asked over all paragraphs up to it."""

    block: int
    keyword: str
    question: str = ""
    answer: str = ""
    span: Stretch | None = None


@dataclass(slots=True)
class _Chain:
    """A chain on its way. `failed` says why it ended early."""

    number: int
    hops: int
    window: Window
    keyword: str
    stages: list[_Stage] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    answers: list[Response] = field(default_factory=list)
    again: bool = False
    failed: str = ""

    @property
    def open(self) -> bool:
        """Whether it goes on."""
        return not self.failed and not (len(self.stages) == self.hops and self.stages[-1].question)


class StarDrafter:
    """Makes the items of one book. The same book, parameters, seed and answers give the same items."""

    def __init__(self, novel: ReadNovel, parameters: NovelStarParameters, complete: Complete) -> None:
        self.novel = novel
        self.names = describe_book(novel.book, novel.graph)
        self.counts = NovelCounts()
        self._parameters = parameters
        self._complete = complete
        self._prompts = load_prompts()
        self._target = parse_model(parameters.model)
        self._used: set[int] = set()
        book = novel.book
        self._texts = {number: book.show_block(number) for number, one in enumerate(book.blocks) if one.is_paragraph}
        total, length = novel.reader.table.sums[-1], K * int(parameters.length.removesuffix("k"))
        self._windows = list_windows(book, novel.reader.table, length, find_stride(total, length))
        story = "\n".join(self._texts.values())
        # Of one spelling each: who is called by several names is still asked for by one.
        self.anchors = [
            one.name for one in sorted(novel.graph.entities, key=lambda one: (-one.mentions, one.id))
            if one.name and len(_find_word(one.name, story)) >= parameters.least
        ]  # fmt: skip

    def make(self, tell: Tell) -> list[NovelItem]:
        """All items that the filter left."""
        chains = self._begin()
        for stage in range(1, 1 + max((chain.hops for chain in chains), default=0)):
            tell(f"{self.novel.book.title}: paragraph {stage}")
            if stage > 1:
                self._find_next([chain for chain in chains if chain.open])
            self._ask([chain for chain in chains if chain.open and len(chain.stages) == stage])
        made: list[NovelItem] = []
        for chain in chains:
            self.counts.drawn += 1
            if chain.failed:
                self.counts.left_out[chain.failed] += 1
                continue
            made.append(self._make_item(chain))
        tell(f"{self.novel.book.title}: filtering")
        kept = keep_answered(
            made, self.novel.book, self._parameters.filters, self._complete, self.counts.left_out
        )
        for item in kept:
            self.counts.made[f"{len(item.hops)} hops, {item.window.length // K}k"] += 1
        return kept

    def list_requests(self) -> list[Request]:
        """The requests of the first paragraphs: what is known before the first answer."""
        return [self._request(chain) for chain in self._begin() if chain.open]

    def _begin(self) -> list[_Chain]:
        """Chains with their first paragraphs."""
        self._used.clear()
        chains: list[_Chain] = []
        for hops in sorted(map(int, self._parameters.hops)):
            for _ in range(self._parameters.items):
                chains.append(self._open_chain(len(chains), hops))
        return chains

    def _open_chain(self, number: int, hops: int) -> _Chain:
        rng = random.Random(f"{self._parameters.seed}:{self.novel.book.id}:star:{number}")
        if not self._windows or not self.anchors:
            empty = Window(0, 1, 0, 1, 1, 1)
            return _Chain(number, hops, empty, "", failed="no window, or no keyword that is frequent enough")
        for _ in range(_RESTARTS):
            chain = _Chain(number, hops, rng.choice(self._windows), rng.choice(self.anchors))
            if self._take(chain, chain.keyword, rng):
                return chain
        chain.failed = "no paragraph is left that has the keyword"
        return chain

    def _take(self, chain: _Chain, keyword: str, rng: random.Random) -> bool:
        """Give a chain a paragraph of its window that nobody has, with its keyword and this one; whether there is."""
        fitting = [
            block for block in range(chain.window.first, chain.window.stop)
            if block in self._texts and block not in self._used
            and _find_word(chain.keyword, self._texts[block]) and _find_word(keyword, self._texts[block])
        ]  # fmt: skip
        if not fitting:
            return False
        block = fitting[rng.randrange(len(fitting))]
        self._used.add(block)
        chain.stages.append(_Stage(block, keyword))
        return True

    def _find_next(self, chains: Sequence[_Chain]) -> None:
        """Have keywords named until each chain has a further paragraph, or has been refused so many times."""
        wanting = list(chains)
        prompt = self._prompts["name-keyword"]
        for attempt in range(1, 1 + self._parameters.tries):
            if not wanting:
                return
            requests = []
            for chain in wanting:
                known = [*(one.keyword for one in chain.stages[1:]), *chain.rejected]
                inputs = {
                    "paragraph": self._show(chain), "keyword": chain.keyword,
                    "rejected": ", ".join(f'"{one}"' for one in known),
                }  # fmt: skip
                requests.append(prompt.request(inputs, self._target, item=f"star-{chain.number}", seed=attempt))
            for chain, outcome in zip(wanting, self._complete(requests), strict=True):
                self._take_keyword(chain, outcome, attempt)
            wanting = [chain for chain in wanting if chain.rejected and not chain.failed]
        for chain in wanting:
            chain.failed = f"no further paragraph in {self._parameters.tries} tries"

    def _take_keyword(self, chain: _Chain, outcome: Outcome, attempt: int) -> None:
        if not isinstance(outcome, Response) or not isinstance(outcome.parsed, NamedKeyword):
            chain.failed = "the model named no keyword"
            return
        chain.answers.append(outcome)
        keyword = " ".join(outcome.parsed.keyword.split())
        key = f"{self.novel.book.id}:{chain.number}:{len(chain.stages)}:{attempt}"
        rng = random.Random(f"{self._parameters.seed}:{key}")
        known = {one.keyword.casefold() for one in chain.stages}
        if keyword.casefold() in known or not self._take(chain, keyword, rng):
            chain.rejected.append(keyword)
        else:
            chain.rejected.clear()

    def _ask(self, chains: Sequence[_Chain]) -> None:
        """Have the question over all paragraphs asked; once more where the answer is no span of them."""
        wanting = list(chains)
        for _ in range(2):
            outcomes = self._complete([self._request(chain) for chain in wanting])
            for chain, outcome in zip(wanting, outcomes, strict=True):
                self._take_question(chain, outcome)
            wanting = [chain for chain in wanting if chain.again and not chain.failed]
            if not wanting:
                return
        for chain in wanting:
            chain.failed = "the answer is no span of the paragraphs"

    def _request(self, chain: _Chain) -> Request:
        before = chain.stages[-2] if len(chain.stages) > 1 else None
        inputs = {
            "paragraphs": _GAP.join(
                f'Paragraph {number}, found by "{one.keyword}":\n{self._texts[one.block]}'
                for number, one in enumerate(chain.stages, start=1)
            ),
            "previous": f"{before.question} ({before.answer})" if before else "",
        }
        prompt = self._prompts["ask-paragraphs"]
        return prompt.request(inputs, self._target, item=f"star-{chain.number}", seed=1 + chain.again)

    def _take_question(self, chain: _Chain, outcome: Outcome) -> None:
        if not isinstance(outcome, Response) or not isinstance(outcome.parsed, AskedParagraphs):
            chain.failed = "the model asked no question"
            return
        chain.answers.append(outcome)
        stage = chain.stages[-1]
        question, answer = " ".join(outcome.parsed.question.split()), " ".join(outcome.parsed.answer.split())
        stage.span = self._find_span(chain, answer)
        holds = bool(_find_word(answer, question))
        chain.again = stage.span is None or holds or not question.endswith("?")
        if not chain.again:
            stage.question, stage.answer = question, answer

    def _find_span(self, chain: _Chain, answer: str) -> Stretch | None:
        """Where a paragraph has the answer, the last one first; white space may differ."""
        pattern = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)".replace(r"\ ", r"\s+"))
        for stage in reversed(chain.stages):
            block = self.novel.book.blocks[stage.block]
            if match := pattern.search(self.novel.book.text, block.start, block.end):
                return Stretch(start=match.start(), end=match.end())
        return None

    def _show(self, chain: _Chain) -> str:
        return _GAP.join(self._texts[one.block] for one in chain.stages)

    def _make_item(self, chain: _Chain) -> NovelItem:
        book, table = self.novel.book, self.novel.reader.table
        document = book.to_document()
        window = WindowRef(
            book=book.id, start=chain.window.start, end=chain.window.end, length=chain.window.length,
            tokens=chain.window.tokens, tokenizer=table.tokenizer, sha256=hash_window(book, chain.window),
        )  # fmt: skip
        hops = []
        for index, stage in enumerate(chain.stages, start=1):
            span = stage.span or Stretch(start=0, end=1)
            block = book.blocks[stage.block]
            hops.append(
                NovelHop(
                    index=index,
                    question=stage.question,
                    answer=stage.answer,
                    answer_type="string",
                    depends_on=tuple(range(1, index)),
                    derivation=ReadSpan(document=book.id, start=span.start, end=span.end),
                    evidence=Evidence.of(spans=[document.cite(span.start, span.end)]),
                    step="star",
                    keyword=stage.keyword,
                    paragraphs=(Stretch(start=block.start, end=block.end),),
                )
            )
        places = [table.count(chain.window.first, stage.block) for stage in chain.stages]
        family = f"nf-star-{book.sha256[:8]}-{self._parameters.seed}-{chain.number}"
        return NovelItem(
            id=make_novel_id(window, family, "factual"),
            topology=f"star-{len(hops)}",
            hops=tuple(hops),
            question=hops[-1].question,
            answer=hops[-1].answer,
            checks=(
                CheckResult(name="keywords", outcome="pass", reason=f"{chain.keyword} stands in every paragraph"),
                CheckResult(name="span", outcome="pass", reason="a paragraph has the answer letter for letter"),
            ),
            provenance=self._describe(chain),
            window=window,
            family=family,
            distances=tuple(abs(one - other) for one, other in pairwise(places)),
            depth=round(places[-1] / max(chain.window.tokens, 1), 4),
        )

    def _describe(self, chain: _Chain) -> Provenance:
        """Who made it: the model, the requests, tokens and dollars."""
        prompt = self._prompts["ask-paragraphs"]
        last = chain.answers[-1]
        return Provenance(
            generator="model",
            model=last.model,
            model_version=last.model_version,
            prompt=prompt.front.name,
            prompt_version=prompt.version,
            seed=self._parameters.seed,
            request_keys=tuple(one.key for one in chain.answers),
            input_tokens=sum(one.usage.input for one in chain.answers),
            output_tokens=sum(one.usage.output for one in chain.answers),
            cost_usd=round(sum(one.cost_usd for one in chain.answers), 6),
            sources=(describe_source(self.names),),
        )


def _find_word(word: str, text: str) -> list[int]:
    """Where a keyword stands in a text as a whole word, in its own spelling; white space may differ."""
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)".replace(r"\ ", r"\s+")
    return [match.start() for match in re.finditer(pattern, text)]


def list_star_checks(item: NovelItem, book: str) -> Iterator[str]:
    """What is wrong with a question of the paper's way; nothing where all is as it says. For the audit."""
    anchor = item.hops[0].keyword
    seen: set[int] = set()
    for hop in item.hops:
        for place in hop.paragraphs:
            text = book[place.start : place.end]
            if place.start in seen:
                yield f"hop {hop.index}: its paragraph is another hop's"
            seen.add(place.start)
            if not _find_word(anchor, text) or not _find_word(hop.keyword, text):
                yield f"hop {hop.index}: its paragraph lacks {anchor!r} or {hop.keyword!r}"
        if _find_word(hop.answer, hop.question):
            yield f"hop {hop.index}: the question names the answer"
