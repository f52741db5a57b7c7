"""Chains of atomic questions: begun from drawn passages, extended through the index, merged and verified at every hop.

The order of the steps and the numbers are AgenticRAGTracer's (section 3). Where it leaves something open, this is what
is done:

- a chain goes on from its answer: of the passages that the answer retrieves, those that name it are asked about it;
- the beam is drawn by the seed before questions are merged, so that it bounds what is paid for;
- a comparison begins a chain, over two passages, and an inference may go on from the thing that it finds;
- what a rule rejects is not asked for again. What does not fit its schema is sent back by the client.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from hopwright.exports.read_chains.asking import Complete, ReadingAsker, cost_of
from hopwright.exports.read_chains.chains import AtomicPair, ChainKind, ReadChain, name_chains
from hopwright.exports.read_chains.funnel import Funnel
from hopwright.exports.read_chains.opening import accept, keep_titles, read_pairs
from hopwright.exports.read_chains.rules import Fault, check_merged, find_span, holds_words, is_number, is_same
from hopwright.exports.read_chains.verifying import verify_chains, verify_pairs
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.documents.store import CorpusText
from hopwright.llm.answers import MergedQuestion
from hopwright.llm.asking import RequestCosts
from hopwright.llm.types import Outcome, Request
from hopwright.settings import CorpusReadParameters

_GROUP = 32
"""Passages from which chains begin at once; between two groups it is seen whether there are enough questions."""
_SHARED = 3
"""Questions of one kind and number of hops that may rest on one atomic question."""
OPENING = "atomic questions"
Tell = Callable[[str], None]
Place = tuple[str, int, int]
"""A document, and where an answer begins and ends in it."""
Candidate = tuple[ReadChain, AtomicPair, RequestCosts]
"""A chain, the question that may extend it, and what asking for that question cost."""


class ReadChains:
    """Makes the chains of one corpus. The same corpus, parameters and answers give the same chains."""

    def __init__(
        self, retriever: Retriever, parameters: CorpusReadParameters, complete: Complete,
        excluded: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self.funnel = Funnel()
        self.asker = ReadingAsker(parameters, complete, self.funnel)
        self._retriever = retriever
        self._parameters = parameters
        self._excluded = excluded
        self._hops = sorted(set(map(int, parameters.hops)))
        self._kinds: list[ChainKind] = sorted(set(parameters.kinds), reverse=True)
        self._used: dict[str, Counter[str]] = defaultdict(Counter)
        self._spans: set[tuple[str, tuple[Place, ...]]] = set()
        self._compared: set[frozenset[Place]] = set()

    def make(self, tell: Tell) -> list[ReadChain]:
        """All chains that are kept, at most `most` of each kind and number of hops."""
        made: list[ReadChain] = []
        drawn = self.draw()
        for start in range(0, len(drawn), _GROUP):
            if self._has_enough():
                break
            group = drawn[start : start + _GROUP]
            tell(f"asking about passages {start + 1:,} to {start + len(group):,} of {len(drawn):,}")
            openings = self._open(group)
            for kind in self._kinds:
                chains = self._begin(kind, openings)
                while chains and chains[0].hops < self._hops[-1]:
                    hops = chains[0].hops + 1
                    tell(f"{name_chains(kind, hops)}: extending {len(chains):,} chains")
                    chains = self._extend(chains)
                    if hops in self._hops:
                        made += self._select(chains)
        return made

    def draw(self) -> list[CorpusText]:
        """The passages from which chains begin, in a random order that the seed decides."""
        store = self._retriever.store
        number = min(self._parameters.passages, len(store))
        rows = random.Random(f"{self._parameters.seed}:read").sample(range(len(store)), number)
        return list(store.passages(rows))

    def list_requests(self) -> list[Request]:
        """The requests that are known before the first answer."""
        kept = keep_titles(Funnel(), OPENING, self.draw(), self._excluded)
        return [self.asker.ask_atomic(passage) for passage in kept]

    def _open(self, passages: Sequence[CorpusText]) -> list[tuple[AtomicPair, RequestCosts]]:
        kept = keep_titles(self.funnel, OPENING, passages, self._excluded)
        outcomes = self.asker.send([self.asker.ask_atomic(passage) for passage in kept])
        pairs: list[tuple[AtomicPair, RequestCosts]] = []
        for passage, outcome in zip(kept, outcomes, strict=True):
            pairs += read_pairs(self.funnel, OPENING, passage, outcome, self._parameters.atomic, accept)
        return verify_pairs(self.asker, self.funnel, pairs)

    def _begin(self, kind: ChainKind, openings: Sequence[tuple[AtomicPair, RequestCosts]]) -> list[ReadChain]:
        stage = f"{kind}: openings"
        self.funnel.enter(stage, len(openings))
        chains = []
        for pair, spent in openings:
            if kind == "inference" and is_number(pair.answer):
                self.funnel.reject(stage, Fault.ANSWER_NUMBER, pair.key, pair.answer)
            else:
                chains.append(ReadChain(kind, (pair,), pair.question, spent=spent))
        return chains

    def _extend(self, chains: Sequence[ReadChain]) -> list[ReadChain]:
        """The chains that are one hop longer, verified."""
        candidates = self._take_beam(self._find_candidates(chains))
        outcomes = self.asker.send([self.asker.merge(chain, pair) for chain, pair, _ in candidates])
        merged: list[ReadChain] = []
        for candidate, outcome in zip(candidates, outcomes, strict=True):
            if (chain := self._read_merged(candidate, outcome)) is not None:
                merged.append(chain)
        return verify_chains(self.asker, self.funnel, merged)

    def _find_candidates(self, chains: Sequence[ReadChain]) -> list[Candidate]:
        """What may extend each chain, in the order in which the index finds the passages."""
        asked = [(chain, passage) for chain in chains for passage in self._retrieve(chain)]
        requests = [
            self.asker.ask_alike(chain.pairs[0], passage)
            if _opens_comparison(chain)
            else self.asker.ask_atomic(passage, chain.answer)
            for chain, passage in asked
        ]
        candidates: list[Candidate] = []
        for (chain, passage), outcome in zip(asked, self.asker.send(requests), strict=True):
            judge = partial(_judge_alike if _opens_comparison(chain) else _judge_next, chain)
            pairs = read_pairs(self.funnel, _next_name(chain), passage, outcome, self._parameters.atomic, judge)
            candidates += [(chain, pair, spent) for pair, spent in pairs]
        return candidates

    def _retrieve(self, chain: ReadChain) -> list[CorpusText]:
        """The passages that a chain's answer retrieves and that name it; of a comparison, those its question does."""
        compares = _opens_comparison(chain)
        query = chain.question if compares else chain.answer
        used = {passage.id for passage in chain.passages}
        # The chain's own passages are found, too, and do not count among those that it goes on with.
        hits = [hit.passage for hit in self._retriever.search(query, self._parameters.top + len(used))]
        kept: list[CorpusText] = []
        stage = _next_name(chain)
        for passage in keep_titles(self.funnel, stage, hits, self._excluded):
            fault = None
            if passage.id in used:
                fault = Fault.PASSAGE_USED
            elif not compares and not holds_words(passage.contents, chain.answer):
                fault = Fault.ENTITY_NOT_NAMED
            elif len(kept) == self._parameters.top:
                fault = Fault.TOO_MANY
            if fault is None:
                kept.append(passage)
            else:
                self.funnel.reject(f"{stage}: passages", fault, passage.id, f"{chain.answer!r} of {chain.question}")
        return kept

    def _take_beam(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """At most `beam` for each opening question, drawn by the seed, in the order in which they were found."""
        groups: dict[str, list[int]] = defaultdict(list)
        kept: set[int] = set()
        mirrored: set[int] = set()
        for place, (chain, pair, _) in enumerate(candidates):
            if _opens_comparison(chain) and self._is_mirrored(chain.pairs[0], pair):
                mirrored.add(place)
            else:
                groups[chain.opening].append(place)
        for opening, places in groups.items():
            name = _next_name(candidates[places[0]][0])
            rng = random.Random(f"{self._parameters.seed}:beam:{name}:{opening}")
            kept.update(rng.sample(places, min(len(places), self._parameters.beam)))
        for place, (chain, pair, _) in enumerate(candidates):
            self.funnel.enter(f"{_next_name(chain)}: beam")
            if place not in kept:
                fault = Fault.REPEATED if place in mirrored else Fault.BEAM
                self.funnel.reject(f"{_next_name(chain)}: beam", fault, chain.opening, pair.question)
        return [candidate for place, candidate in enumerate(candidates) if place in kept]

    def _is_mirrored(self, one: AtomicPair, other: AtomicPair) -> bool:
        """Whether the two were compared before, maybe the other way round; from now on they were."""
        both = frozenset([_place(one), _place(other)])
        if both in self._compared:
            return True
        self._compared.add(both)
        return False

    def _read_merged(self, candidate: Candidate, outcome: Outcome) -> ReadChain | None:
        """The longer chain; None, and counted, where the merged question breaks a rule."""
        chain, pair, spent = candidate
        stage = f"{_next_name(chain)}: merging"
        self.funnel.enter(stage)
        said = outcome.parsed if outcome.ok else None
        if not isinstance(said, MergedQuestion):
            self.funnel.reject(stage, Fault.REQUEST_FAILED, chain.opening, "" if outcome.ok else outcome.kind)
            return None
        question, answer = " ".join(said.question.split()), " ".join(said.answer.split())
        compares = _opens_comparison(chain)
        fault = Fault.OBJECTED if said.objection.strip() else None
        lost = "" if compares else chain.answer
        fault = fault or check_merged(question, chain.question, pair.question, (*chain.hidden, pair.answer), lost)
        longer = replace(
            chain, pairs=(*chain.pairs, pair), question=question, spent=chain.spent + spent + cost_of(outcome)
        )
        if fault is None and compares:
            compared = _find_compared(longer, answer)
            fault = compared if isinstance(compared, Fault) else None
            longer = longer if isinstance(compared, Fault) else replace(longer, compared=compared)
        elif fault is None and not is_same(answer, pair.answer):
            fault = Fault.SPAN_MISSING
        if fault is not None:
            self.funnel.reject(stage, fault, chain.opening, said.objection.strip() or f"{question} ({answer})")
            return None
        return longer

    def _select(self, chains: Sequence[ReadChain]) -> list[ReadChain]:
        """The chains that are written: not too many on one atomic question, no two on the same spans."""
        kept = []
        for chain in chains:
            used, stage = self._used[chain.name], f"{chain.name}: writing"
            spans = (chain.kind, tuple(map(_place, chain.steps)))
            self.funnel.enter(stage)
            fault = None
            if self.funnel.written[chain.name] == self._parameters.most:
                fault = Fault.ENOUGH
            elif spans in self._spans:
                fault = Fault.REPEATED
            elif any(used[pair.key] == _SHARED for pair in chain.pairs):
                fault = Fault.SHARED
            if fault is not None:
                self.funnel.reject(stage, fault, chain.opening, chain.question)
                continue
            used.update(pair.key for pair in chain.pairs)
            self._spans.add(spans)
            self.funnel.written[chain.name] += 1
            kept.append(chain)
        return kept

    def _has_enough(self) -> bool:
        names = [name_chains(kind, hops) for kind in self._kinds for hops in self._hops]
        return all(self.funnel.written[name] == self._parameters.most for name in names)


def _opens_comparison(chain: ReadChain) -> bool:
    return chain.kind == "comparison" and chain.hops == 1


def _place(pair: AtomicPair) -> Place:
    return pair.passage.document, pair.start, pair.end


def _next_name(chain: ReadChain) -> str:
    return name_chains(chain.kind, chain.hops + 1)


def _judge_next(chain: ReadChain, pair: AtomicPair) -> Fault | None:
    """A question that goes on from a chain asks about its answer, and leads to something new that is no number."""
    if not holds_words(pair.question, chain.answer):
        return Fault.ENTITY_MISSING
    if is_number(pair.answer):
        return Fault.ANSWER_NUMBER
    known = [one.answer for one in chain.steps] + [one.entity for one in chain.steps]
    told = " ".join([chain.question, *(one.question for one in chain.steps)])
    if any(is_same(pair.answer, one) for one in known) or holds_words(told, pair.answer):
        return Fault.CIRCULAR
    return None


def _judge_alike(chain: ReadChain, pair: AtomicPair) -> Fault | None:
    """What is compared are two things with two answers."""
    (first,) = chain.pairs
    if is_same(first.entity, pair.entity) or is_same(first.answer, pair.answer):
        return Fault.NOT_COMPARED
    return None


def _find_compared(chain: ReadChain, answer: str) -> AtomicPair | Fault:
    """The step that compares, with the place where the passage of the right thing names it."""
    pairs = chain.pairs
    if not all(holds_words(chain.question, pair.entity) for pair in pairs):
        return Fault.NOT_COMPARED
    named = [pair for pair in pairs if is_same(answer, pair.entity)]
    if len(named) != 1:
        return Fault.NOT_COMPARED
    right = named[0]
    span = find_span(right.passage.text, right.entity, right.question)
    if span is None:
        return Fault.SPAN_MISSING
    start, end = (right.passage.start + place for place in span)
    return AtomicPair(chain.question, right.entity, right.entity, right.passage, start, end)
