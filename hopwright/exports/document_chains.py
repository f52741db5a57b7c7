"""A data set of questions over a corpus: plans that its passages prove, in the rules' words, with every gold passage.

items.jsonl                      one item a line, as `hopwright.records` has it; a hop's spans are its gold sentences
readings.jsonl                   where a model read the documents: each of its readings, and what came of it
retrievability.jsonl             for each hop, at which rank the index finds its gold passages
corpus.jsonl, queries.jsonl      BEIR's layout; the passages' ids are the corpus's
qrels/test.tsv, qrels.trec       which passages are gold for which question, as BEIR and as TREC write it
recipe.json                      what corpus and index were made of, with hashes, and the commands that make them
counts.json                      what was found, what was rejected and why
README.md                        the card, with the licence of every source
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopwright.checks.passage_proof import HopEvidence, gather_evidence, refute
from hopwright.errors import ExpressionError, InputError
from hopwright.exports.document_set import DocumentSet, list_licences
from hopwright.knowledge.documents.aligners import JointAligner, WordAligner
from hopwright.knowledge.documents.corpus_source import CorpusGraph
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.documents.model_aligner import ModelAligner, Reading
from hopwright.knowledge.documents.stated_facts import MentionIndex, StatedFacts
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.planning.domains import DomainIndex
from hopwright.planning.evidence import evidence_for
from hopwright.planning.execution import render_answer
from hopwright.planning.fact_chains import COMPARISON, INFERENCE, ChainFinder, FactChain
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import CheckResult, Hop, Item, LiteralFact, Provenance, Source, plan_id
from hopwright.records.values import Value
from hopwright.release.own_folder import refuse_foreign
from hopwright.settings import CorpusChainsParameters
from hopwright.text.matching import contains_alias, mend_quotes, pad
from hopwright.topologies import TOPOLOGIES
from hopwright.wording.rules.rules_writer import RulesWriter

WRITER = "hopwright corpus questions"
_DEPTH = 100
_MOST_ALIASES = 20
Tell = Callable[[str], None]


@dataclass
class ChainCounts:
    """What came of the plans: `found = proven + rejected` for each kind and number of hops."""

    found: Counter[str] = field(default_factory=Counter)
    proven: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    readings: Counter[str] = field(default_factory=Counter)
    """What came of a model's readings, where one was asked."""


@dataclass(frozen=True, slots=True)
class _Made:
    item: Item
    evidence: tuple[HopEvidence, ...]


class DocumentChains:
    """Makes the items of one corpus. The same corpus, store of facts and seed give the same items."""

    def __init__(
        self, source: WikidataSource, retriever: Retriever, sources: Sequence[Source], seed: int,
        model: ModelAligner | None = None,
    ) -> None:  # fmt: skip
        """`model` reads where facts are stated, beside the words that say them. Raises InputError where it fails."""
        self.store = retriever.store
        self.retriever = retriever
        self.model = model
        self._source = source
        self._seed = seed
        aligner = JointAligner([WordAligner(), model]) if model is not None else None
        self.graph = CorpusGraph(source, self.store.documents(), aligner)
        self.stated = StatedFacts(self.graph, self.store, source.table)
        self._mentions = MentionIndex(self.graph, self.store)
        subjects = sorted({fact[0] for fact in self.graph.facts() if isinstance(fact, tuple)})
        self._finder = ChainFinder(GraphTraversals(source), self.graph, subjects)
        self._domains = DomainIndex(source.table, source.kinds)
        self._writer = RulesWriter(source.table)
        self._names = GraphNames(source.kinds)
        licences = sorted({document.licence for document in self.store.documents()})
        corpus = Source(
            name=self.store.folder.name,
            licence="; ".join(licences),
            snapshot=self.store.manifest.content,
            pins_ids=True,
        )
        self._sources = (*sources, corpus)

    def make(self, hops: Sequence[int], most: int, counts: ChainCounts, tell: Tell) -> Iterator[_Made]:
        """The proven items, at most `most` for each kind and number of hops, drawn by the seed from all proven ones.

        No sub-question occurs in more than three of them.
        """
        for number in sorted(set(hops)):
            kinds: list[Iterable[FactChain]] = [self._finder.find_inferences(number)] if number in INFERENCE else []
            if number in COMPARISON:
                kinds.append(self._finder.draw_comparisons(number, self._seed))
            for chains in kinds:
                tell(f"proving chains of {number} hops")
                yield from self._select(self._prove(chains, counts), most, counts)

    def _prove(self, chains: Iterable[FactChain], counts: ChainCounts) -> list[tuple[FactChain, _Made]]:
        proven: list[tuple[FactChain, _Made]] = []
        seen: set[str] = set()
        for chain in chains:
            if chain.plan.id in seen:
                continue
            seen.add(chain.plan.id)
            name = f"{chain.kind}, {chain.hops} hops"
            counts.found[name] += 1
            evidence = gather_evidence(chain.plan, self.stated)
            refuted = refute(chain.plan, evidence, self.stated, self._mentions)
            if refuted is not None:
                counts.rejected[f"{name}: {refuted.proof}: {refuted.reason}"] += 1
                continue
            made = self._word(chain, evidence)
            if isinstance(made, str):
                counts.rejected[f"{name}: wording: {made}"] += 1
                continue
            counts.proven[name] += 1
            proven.append((chain, _Made(made, evidence)))
        return proven

    def _select(self, proven: list[tuple[FactChain, _Made]], most: int, counts: ChainCounts) -> Iterator[_Made]:
        used: Counter[str] = Counter()
        random.Random(f"{self._seed}:select").shuffle(proven)
        taken = 0
        for chain, made in proven:
            questions = [hop.question for hop in made.item.hops]
            if taken == most or any(used[one] == 3 for one in questions):
                continue
            used.update(questions)
            taken += 1
            counts.written[f"{chain.kind}, {chain.hops} hops"] += 1
            yield made

    def _word(self, chain: FactChain, evidence: tuple[HopEvidence, ...]) -> Item | str:
        """The item in the rules' words; what is wrong with them, where something is."""
        plan, graph = chain.plan, self._source.graph
        derivations = tuple(step.derivation for step in plan.steps)
        try:
            wording = self._writer.word(plan.steps, self._names, plan.id)
        except ExpressionError:
            return "no words"
        answers: dict[int, Value] = {}
        hops: list[Hop] = []
        rulings = self._domains.of_steps(plan.steps)
        for index, (step, question) in enumerate(zip(plan.steps, wording.hop_questions, strict=True), start=1):
            entity = step.value if step.answer_type == "entity" and isinstance(step.value, str) else None
            stated = evidence_for(step, answers, self.graph, self._source.table)
            facts = [fact for group in evidence[index - 1].facts for fact in group]
            spans = dict.fromkeys(span for fact in facts for span in self.graph.quote(fact))
            answer = graph.label(entity) if entity else render_answer(step.value, step.unit)
            if chain.kind == "inference" and contains_alias(wording.question, pad(wording.question), answer):
                return "the question gives an answer away"
            hops.append(
                Hop(
                    index=index,
                    question=question,
                    answer=answer,
                    answer_type=step.answer_type,
                    answer_id=entity,
                    answer_aliases=tuple(map(mend_quotes, graph.aliases(entity)[:_MOST_ALIASES])) if entity else (),
                    unit=step.unit,
                    domain=rulings[index - 1].domain,
                    domain_reason=rulings[index - 1].reason,
                    depends_on=TOPOLOGIES[plan.topology].depends_on[index - 1],
                    derivation=step.derivation,
                    evidence=stated.replace(spans=tuple(spans)),
                    verify=self._name_reading(evidence[index - 1]),
                )
            )
            answers[index] = step.value
        proofs = ("uniqueness", "sufficiency", "necessity")
        return Item(
            id=plan_id(plan.topology, derivations, sources=self._sources),
            topology=plan.topology,
            hops=tuple(hops),
            question=wording.question,
            answer=hops[-1].answer,
            answer_aliases=hops[-1].answer_aliases,
            checks=tuple(CheckResult(name=f"passages_{name}", outcome="pass") for name in proofs),
            provenance=Provenance(seed=self._seed, sources=self._sources),
        )

    def _name_reading(self, evidence: HopEvidence) -> str:
        """What a reviewer has to look at in a hop: that a fact is stated, where a model alone has read it."""
        read = {
            self.graph.name_reader(group[0])
            for group in evidence.facts
            if group and all(self.graph.name_reader(fact) for fact in group)
        }
        said = "read that the passage states this; no word of the relation says so"
        return f"{', '.join(sorted(read))} {said}" if read else ""

    def rank(self, made: _Made) -> tuple[Item, list[int | None]]:
        """The item with the ranks at which the index finds each hop's facts, None below the hundredth.

        A hop is asked by its own question, which states the gold answers before it; a hop of two facts has the rank at
        which both are found.
        """
        ranks: list[int | None] = []
        for hop, evidence in zip(made.item.hops, made.evidence, strict=True):
            found = [hit.passage.row for hit in self.retriever.search(hop.question, _DEPTH, "bm25")]
            places = [min((found.index(row) for row in rows if row in found), default=None) for rows in evidence.rows]
            known = [one for one in places if one is not None]
            ranks.append(max(known) + 1 if known and len(known) == len(places) else None)
        said = ", ".join(f"hop {index} at {rank or f'no rank up to {_DEPTH}'}" for index, rank in enumerate(ranks, 1))
        check = CheckResult(name="retrievability", outcome="pass", reason=said)
        return made.item.model_copy(update={"checks": (*made.item.checks, check)}), ranks


def write_document_chains(
    maker: DocumentChains, folder: Path, parameters: CorpusChainsParameters, tell: Tell, *, replace: bool = False
) -> ChainCounts:
    """Write the whole folder, or with `replace` an earlier one anew.

    Raises InputError where nothing is proven, or the folder holds other things.
    """
    refuse_foreign(folder, WRITER, replace=replace)
    counts = ChainCounts()
    found = DocumentSet(maker.retriever)
    for made in maker.make([int(one) for one in parameters.hops], parameters.most, counts, tell):
        item, ranks = maker.rank(made)
        rows = sorted(frozenset().union(*(one.gold for one in made.evidence)))
        found.add(item, ranks, (passage.id for passage in maker.store.passages(rows)))
    if not found.items:
        raise InputError(f"no chain is proven: the passages of {maker.store.folder.name} state too few joined facts")
    more = {}
    if maker.model is not None:
        counts.readings.update(maker.model.count_rulings())
        more["readings"] = [_show_reading(one) for one in maker.model.readings]
    found.write(folder, WRITER, _sort(counts), _write_card(maker, counts), replace=replace, more=more)
    return counts


def _show_reading(reading: Reading) -> dict[str, Any]:
    fact = reading.fact
    subject, property, object = (
        (fact.subject, fact.property, fact.value) if isinstance(fact, LiteralFact) else fact
    )
    return {
        "subject": subject,
        "property": property,
        "object": object,
        "document": reading.document,
        "start": reading.start,
        "end": reading.end,
        "words": reading.words,
        "ruling": reading.ruling,
    }


def _sort(counts: ChainCounts) -> dict[str, dict[str, int]]:
    return {name: dict(sorted(held.items())) for name, held in vars(counts).items()}


def _say_reader(maker: DocumentChains) -> list[str]:
    if maker.model is None:
        return []
    return [
        "",
        f"What passages state was found by the words of each relation, and read by {maker.model.model}. Hops that rest",
        "on its reading alone say so under `verify`; `readings.jsonl` has all of its readings.",
    ]


def _write_card(maker: DocumentChains, counts: ChainCounts) -> str:
    made = [f"| {name} | {counts.written[name]:,} | {counts.proven[name]:,} |" for name in sorted(counts.proven)]
    return "\n".join(
        [
            "# Multi-hop questions over documents",
            "",
            "Every hop rests on quoted passages. Its answer is the only one that the corpus states, the gold passages",
            "suffice for it, and without them it cannot be read elsewhere in the corpus. Rules worded the questions.",
            *_say_reader(maker),
            "",
            "| kind | items | proven |",
            "|---|---|---|",
            *made,
            "",
            "The facts are Wikidata's (CC0 1.0). The documents keep their licences:",
            "",
            *list_licences(maker.store),
            "",
        ]
    )
