"""The requests of the way in which a model asks, and what is read from their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hopwright.exports.read_chains.chains import AtomicPair, ReadChain
from hopwright.exports.read_chains.funnel import Funnel
from hopwright.knowledge.documents.store import CorpusText
from hopwright.llm.asking import RequestCosts
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Outcome, Request, parse_model
from hopwright.settings import CorpusReadParameters

Complete = Callable[[Iterable[Request]], list[Outcome]]
MERGING = "merge-questions"


class ReadingAsker:
    """Makes the requests, and has them answered by `complete`, which pays for none of them twice."""

    def __init__(self, parameters: CorpusReadParameters, complete: Complete, funnel: Funnel) -> None:
        self._prompts = load_prompts()
        self._complete = complete
        self._funnel = funnel
        self._most = parameters.atomic
        self._asker = parse_model(parameters.model)
        self._answerer = parse_model(parameters.answer_model or parameters.model)
        self._judge = parse_model(parameters.judge_model or parameters.model)

    @property
    def version(self) -> str:
        """The version of the prompt that merges."""
        return self._prompts[MERGING].version

    def send(self, requests: Sequence[Request]) -> list[Outcome]:
        """The outcomes in the order of the requests; what they cost counts in the yield."""
        outcomes = self._complete(requests) if requests else []
        for outcome in outcomes:
            self._funnel.pay(outcome.key, outcome.cost_usd)
        return outcomes

    def ask_atomic(self, passage: CorpusText, entity: str = "") -> Request:
        """Ask for questions about a passage; about one thing in it where `entity` names one."""
        inputs = {"title": passage.title, "text": passage.text, "most": self._most, "entity": entity}
        return self._prompts["ask-atomic"].request(inputs, self._asker, item=f"read-{passage.id}")

    def ask_alike(self, pair: AtomicPair, passage: CorpusText) -> Request:
        """Ask of another passage what a question asks of its own."""
        inputs = {
            "title": passage.title, "text": passage.text, "most": self._most,
            "question": pair.question, "entity": pair.entity, "answer": pair.answer,
        }  # fmt: skip
        return self._prompts["ask-alike"].request(inputs, self._asker, item=f"read-{passage.id}")

    def merge(self, chain: ReadChain, pair: AtomicPair) -> Request:
        """Ask for one question in the place of a chain's and the next one; a comparison's first two are compared."""
        compares = chain.kind == "comparison" and chain.hops == 1
        inputs = {
            "kind": "comparison" if compares else "inference",
            "question": chain.question, "answer": chain.answer,
            "next_question": pair.question, "next_answer": pair.answer,
            "entities": f'"{chain.pairs[0].entity}" and "{pair.entity}"' if compares else "",
        }  # fmt: skip
        return self._prompts[MERGING].request(inputs, self._asker, item=f"read-{chain.pairs[0].passage.id}")

    def answer(self, question: str, passages: Sequence[CorpusText]) -> Request:
        """Ask for the answer from these passages; without any, from what the model knows."""
        shown = [{"title": one.title, "text": one.text} for one in passages]
        inputs = {"question": question, "passages": shown, "steps": [], "sub_questions": []}
        return self._prompts["answer-open-direct"].request(inputs, self._answerer)

    def grade(self, question: str, gold: str, given: str) -> Request:
        """Ask how far an answer means the right one."""
        inputs = {"question": question, "gold": gold, "given": given}
        return self._prompts["grade-answer"].request(inputs, self._judge)


def cost_of(outcome: Outcome) -> RequestCosts:
    """What a request took."""
    version = outcome.model_version if outcome.ok else ""
    keys = (outcome.key,) if outcome.ok else ()
    return RequestCosts(keys, version, outcome.usage.input, outcome.usage.output, outcome.cost_usd)
