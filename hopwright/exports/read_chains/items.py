"""Items of chains that a model asked: the same records, with spans, as those of proven chains."""

from __future__ import annotations

from hopwright.exports.read_chains.asking import MERGING
from hopwright.exports.read_chains.chains import AtomicPair, ReadChain
from hopwright.exports.read_chains.rules import find_sentence
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.records import CheckResult, Document, Evidence, Hop, Item, Provenance, ReadSpan, Source, plan_id
from hopwright.settings import CorpusReadParameters

_DEPTH = 100
_CHAINS = {2: "chain-2", 3: "chain-3", 4: "chain"}
_COMPARISONS = {3: "converging-3", 4: "converging"}


class ItemMaker:
    """Makes the item of a chain, and finds at which ranks the index has its passages."""

    def __init__(self, retriever: Retriever, parameters: CorpusReadParameters, version: str) -> None:
        self._store: CorpusStore = retriever.store
        self._retriever = retriever
        self._parameters = parameters
        self._version = version
        self.source = describe_corpus(self._store)

    def make(self, chain: ReadChain) -> tuple[Item, list[int | None]]:
        """The item, and for each hop the rank at which BM25 finds its passage, None below the hundredth."""
        steps = chain.steps
        needs = list_needs(chain)
        hops = tuple(
            self._make_hop(index, step, before)
            for index, (step, before) in enumerate(zip(steps, needs, strict=True), start=1)
        )
        topology = name_topology(chain)
        ranks = [self._rank(step) for step in steps]
        said = ", ".join(f"hop {index} at {rank or f'no rank up to {_DEPTH}'}" for index, rank in enumerate(ranks, 1))
        checks = [CheckResult(name=name, outcome="pass", reason=self._say_models()) for name in _CHECKS]
        item = Item(
            id=plan_id(topology, tuple(hop.derivation for hop in hops), sources=(self.source,)),
            topology=topology,
            hops=hops,
            question=chain.question,
            answer=chain.answer,
            checks=(*checks, CheckResult(name="retrievability", outcome="pass", reason=said)),
            provenance=self._describe(chain),
        )
        return item, ranks

    def _make_hop(self, index: int, step: AtomicPair, needs: tuple[int, ...]) -> Hop:
        document = self._find_document(step)
        low, high = find_sentence(step.passage.text, step.start - step.passage.start, step.end - step.passage.start)
        span = document.cite(low + step.passage.start, high + step.passage.start)
        return Hop(
            index=index,
            question=step.question,
            answer=step.answer,
            answer_type="string",
            depends_on=needs,
            derivation=ReadSpan(document=document.id, start=step.start, end=step.end),
            evidence=Evidence.of(spans=[span]),
            verify="a model asked this of the passage and answered it; nothing proves that the answer is the only one",
        )

    def _find_document(self, step: AtomicPair) -> Document:
        return self._store.find(step.passage.document)[0]

    def _rank(self, step: AtomicPair) -> int | None:
        found = [hit.passage.id for hit in self._retriever.search(step.question, _DEPTH, "bm25")]
        return found.index(step.passage.id) + 1 if step.passage.id in found else None

    def _say_models(self) -> str:
        wanted = self._parameters
        return f"{wanted.answer_model or wanted.model} answered, {wanted.judge_model or wanted.model} judged"

    def _describe(self, chain: ReadChain) -> Provenance:
        """Who made it: the model, every request that it rests on, tokens and dollars."""
        spent = chain.spent
        return Provenance(
            generator="model",
            model=self._parameters.model,
            model_version=spent.model_version,
            prompt=MERGING,
            prompt_version=self._version,
            seed=self._parameters.seed,
            request_keys=tuple(dict.fromkeys(spent.keys)),
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost_usd=round(spent.cost_usd, 6),
            sources=(self.source,),
        )


_CHECKS = ("closed_book", "sufficiency", "necessity")


def describe_corpus(store: CorpusStore) -> Source:
    """The corpus as a source, whose content the ids of its items cover."""
    licences = sorted({document.licence for document in store.documents()})
    return Source(
        name=store.folder.name, licence="; ".join(licences), snapshot=store.manifest.content, pins_ids=True
    )  # fmt: skip


def list_needs(chain: ReadChain) -> list[tuple[int, ...]]:
    """Of each step the steps whose answers it needs."""
    if chain.compared is None:
        return [(index,) if index else () for index in range(len(chain.steps))]
    return [(), (), (1, 2), *((index,) for index in range(3, len(chain.steps)))]


def name_topology(chain: ReadChain) -> str:
    """The topology of a chain; one of more hops than ours have is named by its shape and its number of steps."""
    steps = len(chain.steps)
    if chain.compared is None:
        return _CHAINS.get(steps, f"chain-{steps}")
    return _COMPARISONS.get(steps, f"converging-{steps}")
