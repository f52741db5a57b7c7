"""Chains whose hops a model words and answers, each within one paragraph.

The planner draws the chain: of each hop the paragraph, as the only one of the window that names two or three together,
and of each but the last its answer, a name that the next hop's paragraph is selected by. The model is given the
paragraphs, asks about each and chooses the last answer. What it returns is held against the text: the answer stands in
the hop's paragraph letter for letter, the questions hold the names that select the paragraphs and no others, and the
chain is proven and counted like any other. That a question is a good one about what its paragraph tells is the model's
word; models that answer from the golden paragraphs can be asked (`hopwright.novels.golden`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hopwright.knowledge.books.windows import find_mention
from hopwright.llm.answers import AskedChain
from hopwright.llm.asking import QueryResult, RequestSender, ask_in_rounds
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Request, parse_model
from hopwright.novels.counting import WindowCounter
from hopwright.novels.drafting import ModelWords, NovelDrafter, Tell, describe_source
from hopwright.novels.golden import Complete, keep_answered
from hopwright.novels.records import NovelItem, Stretch
from hopwright.novels.shelf import ReadNovel
from hopwright.planning.mention_chains import select_chains
from hopwright.planning.mention_steps import FREE, Step
from hopwright.records import Provenance
from hopwright.settings import NovelAskParameters
from hopwright.wording.rules.mention_wording import WordedChain

PROMPT = "ask-chain"
_TRIES = 2
_SHARE = 10
"""No answer is that of more than a tenth of a book's chains of as many hops."""
AskedResult = QueryResult[tuple[WordedChain, Stretch]]
"""The words of a chain and the span of its answer, or why there are none."""
_SPEAKS_OF_TEXT = re.compile(r"\b(?:paragraphs?|passages?|excerpts?|chapters?|the text)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DrawnChain:
    """A chain that was drawn, with the names of each hop and the answers that are known."""

    number: str
    steps: tuple[Step, ...]
    names: tuple[tuple[str, ...], ...]
    answers: tuple[str, ...]

    @property
    def before(self) -> tuple[str, ...]:
        """Of each hop the answer before it; empty for the first."""
        return ("", *self.answers)


class AskedDrafter:
    """Makes the items of one book. The same book, parameters, seed and answers give the same items."""

    def __init__(self, novel: ReadNovel, parameters: NovelAskParameters) -> None:
        self.drafter = NovelDrafter(novel, parameters, by_model=True)
        self._novel = novel
        self._parameters = parameters
        self._prompt = load_prompts()[PROMPT]
        self._reader = WindowCounter(self.drafter.names, "", 0)
        self._problems: dict[str, str] = {}

    def make(self, answered: Iterable[tuple[DrawnChain, AskedResult]], complete: Complete) -> list[NovelItem]:
        """All items: each chain that the model worded, in one window of every length in which it is proven."""
        counts = self.drafter.counts
        made: list[NovelItem] = []
        answers: Counter[tuple[int, str]] = Counter()
        for chain, result in answered:
            if result.value is None:
                counts.left_out[f"model: {result.problem}"] += 1
                continue
            worded, span = result.value
            hops = len(chain.steps)
            said = self._novel.book.text[span.start : span.end].casefold()
            if answers[hops, said] >= max(2, self._parameters.items // _SHARE):
                counts.left_out["model: the answer of too many others"] += 1
                continue
            words = ModelWords(worded, span, self._describe(result))
            family = list(self.drafter.make_family(chain.steps, words))
            answers[hops, said] += bool(family)
            counts.made[f"{hops} hops, chains"] += bool(family)
            made += family
        kept = keep_answered(made, self._novel.book, self._parameters.filters, complete, counts.left_out)
        self.drafter.count_made(kept)
        return kept

    def draw(self, tell: Tell) -> list[DrawnChain]:
        """The chains that the model is asked for."""
        chains: list[DrawnChain] = []
        parameters = self._parameters
        for hops, drawn in sorted(self.drafter.draw(tell).items()):
            key = f"{self._novel.book.id}:asked:{hops}"
            fitting = [chain for chain in drawn if self._calls_by_name(chain.steps)]
            for number, chain in enumerate(select_chains(fitting, parameters.items, parameters.seed, key)):
                chains.append(self._name(f"{hops}-{number}", chain.steps))
        return chains

    def _calls_by_name(self, steps: tuple[Step, ...]) -> bool:
        """Whether every paragraph calls those whom its question names as the question does."""
        given: tuple[int, ...] = ()
        for step in steps:
            shown = " ".join(self._novel.book.show_block(step.places[0]).split())
            names = [self._novel.graph.entities[who].name for who in (*step.clues, *given)]
            if not all(_find_word(name, shown) for name in names):
                return False
            given = (step.answer,)
        return True

    def _name(self, number: str, steps: tuple[Step, ...]) -> DrawnChain:
        entities = self._novel.graph.entities
        return DrawnChain(
            number,
            steps,
            tuple(tuple(entities[clue].name for clue in step.clues) for step in steps),
            tuple(entities[step.answer].name for step in steps if step.answer != FREE),
        )

    def request(self, chain: DrawnChain, attempt: int) -> Request:
        """The request for one chain; another attempt says what was wrong with the one before."""
        paragraphs: list[dict[str, Any]] = [
            {
                "number": number, "text": self._novel.book.show_block(step.places[0]), "names": names,
                "before": before, "answer": answer, "called": self._find_called(step) if answer else "",
            }
            for number, (step, names, before, answer) in enumerate(
                zip(chain.steps, chain.names, chain.before, (*chain.answers, ""), strict=True), start=1
            )
        ]  # fmt: skip
        problem = self._problems.get(chain.number, "") if attempt else ""
        inputs = {"chain": paragraphs, "problem": problem}
        return self._prompt.request(inputs, parse_model(self._parameters.model), item=f"asked-{chain.number}")

    def judge(self, chain: DrawnChain, said: Any) -> tuple[tuple[WordedChain, Stretch] | None, str]:
        """The words of a chain and the span of its answer, or what is wrong with them."""
        if isinstance(said, AskedChain) and said.objection.strip():
            self._problems[chain.number] = "it says that no good question can be asked; try once more"
            return None, "it objects"
        if not isinstance(said, AskedChain) or len(said.hops) != len(chain.steps):
            problem = f"it has not one question for each of {len(chain.steps)} paragraphs"
        else:
            questions = tuple(" ".join(hop.question.split()) for hop in said.hops)
            whole = questions[0] if len(questions) == 1 else " ".join(said.question.split())
            span = self._find_span(chain.steps[-1], " ".join(said.hops[-1].answer.split()))
            problem = self._find_problem(chain, said, questions, whole, span)
            if not problem and span is not None:
                return (WordedChain(whole, questions), span), ""
        self._problems[chain.number] = problem
        return None, problem

    def _find_problem(
        self, chain: DrawnChain, said: AskedChain, questions: Sequence[str], whole: str, span: Stretch | None
    ) -> str:
        entities = self._novel.graph.entities
        for number, (step, hop) in enumerate(zip(chain.steps, said.hops, strict=True), start=1):
            if step.answer != FREE and " ".join(hop.answer.split()) not in entities[step.answer].aliases:
                return f"answer {number} is not {entities[step.answer].name}"
        if span is None:
            return f"answer {len(questions)} does not stand in its paragraph letter for letter"
        clues = tuple(name for names in chain.names for name in names)
        rows = zip(questions, chain.names, chain.before, said.hops, strict=True)
        for number, (question, names, before, hop) in enumerate(rows, start=1):
            if problem := self._check_words(question, (*names, before) if before else names, [hop.answer]):
                return f"question {number} {problem}"
        if problem := self._check_words(whole, clues, [hop.answer for hop in said.hops]):
            return f"the question over all paragraphs {problem}"
        return ""

    def _check_words(self, question: str, names: Sequence[str], answers: Sequence[str]) -> str:
        """What is wrong with a question that has to hold these names, no others and none of the answers."""
        if not question.endswith("?"):
            return "does not end in a question mark"
        if missing := [name for name in names if not _find_word(name, question)]:
            return f"does not hold {missing[0]!r}"
        if _SPEAKS_OF_TEXT.search(question):
            return "speaks of the text"
        rest = question
        for name in sorted(names, key=len, reverse=True):
            rest = rest.replace(name, "#")
        for answer in answers:
            if re.search(rf"(?<!\w){re.escape(' '.join(answer.split()))}(?!\w)", rest, re.IGNORECASE):
                return f"holds the answer {answer!r}"
        if strange := self._reader.list_strange(question, names):
            return f"holds {strange[0]!r}, which is none of its names"
        return ""

    def _find_called(self, step: Step) -> str:
        """What the paragraph calls the answer."""
        mention = find_mention(self._novel.graph, step.places[0], step.answer)
        return " ".join(self._novel.book.text[mention.start : mention.end].split())

    def _find_span(self, step: Step, answer: str) -> Stretch | None:
        """Where the last paragraph has the answer as whole words; white space may differ."""
        block = self._novel.book.blocks[step.places[0]]
        pattern = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)".replace(r"\ ", r"\s+"))
        match = pattern.search(self._novel.book.text, block.start, block.end)
        if match is None or not re.search(r"\w", answer) or len(answer.split()) > 8:
            return None
        for clue in step.clues:
            mention = find_mention(self._novel.graph, step.places[0], clue)
            if mention.start < match.end() and match.start() < mention.end:
                return None
        return Stretch(start=match.start(), end=match.end())

    def _describe(self, result: AskedResult) -> Provenance:
        """Who made it: the model, the requests, tokens and dollars."""
        spent = result.spent
        return Provenance(
            generator="model",
            model=self._parameters.model,
            model_version=spent.model_version,
            prompt=self._prompt.front.name,
            prompt_version=self._prompt.version,
            seed=self._parameters.seed,
            request_keys=spent.keys,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost_usd=round(spent.cost_usd, 6),
            sources=(describe_source(self.drafter.names),),
        )


def ask_chains(
    drawn: Sequence[tuple[AskedDrafter, list[DrawnChain]]], sender: RequestSender
) -> Iterator[list[tuple[DrawnChain, AskedResult]]]:
    """Ask for the chains of all books at once; of each book its chains with what came of them, in order."""
    rows = [(drafter, chain) for drafter, chains in drawn for chain in chains]
    results = ask_in_rounds(sender, rows, _request_row, _judge_row, tries=_TRIES)
    place = 0
    for _, chains in drawn:
        yield list(zip(chains, results[place : place + len(chains)], strict=True))
        place += len(chains)


def _request_row(row: tuple[AskedDrafter, DrawnChain], attempt: int) -> Request:
    return row[0].request(row[1], attempt)


def _judge_row(
    row: tuple[AskedDrafter, DrawnChain], said: Any
) -> tuple[tuple[WordedChain, Stretch] | None, str]:
    return row[0].judge(row[1], said)


def _find_word(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
