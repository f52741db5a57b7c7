"""What a set of items looks like in figures: the one source for summary, card, plots and artifacts.

One pass over the items; what is kept grows with the number of distinct answers and openings, not with
the texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict
from scipy.special import chdtrc

from hopwright.knowledge.external.tally import ClaimFigures, ClaimTally
from hopwright.knowledge.wikidata.own_ids import is_own_id
from hopwright.records import LABELS, Compute, Item
from hopwright.topologies import topology

_OPENING_WORDS = 3
_OPENINGS_KEPT = 10


# A refused rewording leaves the text as it was: recorded on the item, and no fault of it.
_NO_FAULT = frozenset({"back_translation"})


class _StatisticsFigures(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Share(_StatisticsFigures):
    """A count, and its share of the total (0–1; 0 where there is no total)."""

    count: int
    share: float


class Largest(_StatisticsFigures):
    """The value that occurs most, how often, and its share (0–1); `ties` occur as often, it among them.

    Of them it is the first in alphabetical order.
    """

    value: str = ""
    count: int = 0
    share: float = 0.0
    ties: int = 1


class NumberDistribution(_StatisticsFigures):
    """Distribution of a whole number, percentiles by nearest rank; all 0 for no items."""

    minimum: int = 0
    lower_quartile: int = 0
    median: int = 0
    upper_quartile: int = 0
    percentile_95: int = 0
    maximum: int = 0
    mean: float = 0.0


class VoterScore(_StatisticsFigures):
    """How often one voter chose the right option."""

    votes: int
    right: int
    accuracy: float


class CheckTally(_StatisticsFigures):
    """How often one check passed, failed, or could not run."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


class DatasetStatistics(_StatisticsFigures):
    """Figures of one set of items. Tables are ordered by count, largest first, then by name."""

    items: int
    topologies: dict[str, Share]
    """By the published motif's name (`Chain`, `Converging`, `Bridge`)."""
    domains: dict[str, Share]
    """Over all hops."""
    domains_per_item: dict[int, Share]
    """Number of distinct domains → items, ascending."""
    mean_domains: float
    computations: dict[str, Share]
    """Items with at least one hop of that kind of computation; an item may count under several."""
    items_with_computation: Share
    answer_types: dict[str, Share]
    """Type of the final answer."""
    hop_answer_types: dict[str, Share]
    distinct_answers: int
    largest_answer: Largest
    letters: dict[str, int]
    """Right option's letter, A–D."""
    letters_p: float | None
    """P value of the chi-square test against uniform letters; None without items."""
    question_words: NumberDistribution
    distinct_openings: int
    openings: dict[str, Share]
    """The ten commonest first three words of questions."""
    voters: dict[str, VoterScore]
    right_votes: dict[int, Share]
    """Number of voters that were right → items, ascending; items without votes are left out."""
    checks: dict[str, CheckTally]
    """By name, alphabetically."""
    failed_checks: int
    twins: int
    """Items linked to a twin."""
    entity_answers: int = 0
    """Answers of hops that are entities."""
    own_ids: int = 0
    """Those of them whose id is Hopwright's own, for no source has one (`is_own_id`)."""
    claims: ClaimFigures = ClaimFigures()
    """What rests on numbers that no graph holds."""


def describe(items: Iterable[Item]) -> DatasetStatistics:
    """Count a set of items in one pass. Raises InputError for an item of an unknown topology."""
    gathered = _Gathered()
    for item in items:
        gathered.add(item)
    return gathered.summarise()


class _Gathered:
    """Counters over the items seen so far."""

    def __init__(self) -> None:
        self.items = 0
        self.twins = 0
        self.topologies: Counter[str] = Counter()
        self.domains: Counter[str] = Counter()
        self.domains_per_item: Counter[int] = Counter()
        self.computations: Counter[str] = Counter()
        self.computing = 0
        self.answer_types: Counter[str] = Counter()
        self.hop_answer_types: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.letters: Counter[str] = Counter()
        self.words: Counter[int] = Counter()
        self.openings: Counter[str] = Counter()
        self.votes: Counter[str] = Counter()
        self.right: Counter[str] = Counter()
        self.right_votes: Counter[int] = Counter()
        self.checks: dict[str, Counter[str]] = {}
        self.entity_answers = 0
        self.own_ids = 0
        self.claims = ClaimTally()

    def add(self, item: Item) -> None:
        self.items += 1
        self.twins += item.twin is not None
        self.claims.add(item)
        self.topologies[topology(item.topology).motif] += 1
        self.domains.update(hop.domain.value for hop in item.hops if hop.domain)
        self.domains_per_item[len(item.domains)] += 1
        kinds = {hop.derivation.kind for hop in item.hops if isinstance(hop.derivation, Compute)}
        self.computations.update(kinds)
        self.computing += bool(kinds)
        self.answer_types[item.hops[-1].answer_type] += 1
        self.hop_answer_types.update(hop.answer_type for hop in item.hops)
        self.answers[item.answer] += 1
        ids = [hop.answer_id for hop in item.hops if hop.answer_id]
        self.entity_answers += len(ids)
        self.own_ids += sum(map(is_own_id, ids))
        self.letters.update([item.label] if item.label else [])
        words = item.question.split()
        self.words[len(words)] += 1
        self.openings[" ".join(words[:_OPENING_WORDS])] += 1
        self.votes.update(vote.model for vote in item.votes)
        self.right.update(vote.model for vote in item.votes if vote.right)
        if item.votes:
            self.right_votes[sum(vote.right for vote in item.votes)] += 1
        for check in item.checks:
            self.checks.setdefault(check.name, Counter())[check.outcome] += 1

    def summarise(self) -> DatasetStatistics:
        letters = {label: self.letters[label] for label in LABELS}
        return DatasetStatistics(
            items=self.items,
            topologies=_rank(self.topologies),
            domains=_rank(self.domains),
            domains_per_item=_ascend(self.domains_per_item),
            mean_domains=_mean(self.domains_per_item),
            computations=_rank(self.computations, self.items),
            items_with_computation=_share(self.computing, self.items),
            answer_types=_rank(self.answer_types),
            hop_answer_types=_rank(self.hop_answer_types),
            distinct_answers=len(self.answers),
            largest_answer=_find_largest(self.answers),
            letters=letters,
            letters_p=_test_evenness(list(letters.values())) if any(letters.values()) else None,
            question_words=_spread(self.words),
            distinct_openings=len(self.openings),
            openings=dict(list(_rank(self.openings).items())[:_OPENINGS_KEPT]),
            voters={
                model: VoterScore(votes=count, right=self.right[model], accuracy=self.right[model] / count)
                for model, count in sorted(self.votes.items())
            },
            right_votes=_ascend(self.right_votes),
            checks={
                name: CheckTally(passed=tally["pass"], failed=tally["fail"], skipped=tally["skip"])
                for name, tally in sorted(self.checks.items())
            },
            failed_checks=sum(tally["fail"] for name, tally in self.checks.items() if name not in _NO_FAULT),
            twins=self.twins,
            entity_answers=self.entity_answers,
            own_ids=self.own_ids,
            claims=self.claims.finish(),
        )


def _test_evenness(counts: Sequence[int]) -> float:
    """The p-value of the chi-square test that all counts come from one rate; scipy.stats takes 0.4 s to load."""
    observed = np.asarray(counts, float)
    expected = observed.mean()
    return float(chdtrc(len(counts) - 1, ((observed - expected) ** 2 / expected).sum()))


def _share(count: int, total: int) -> Share:
    return Share(count=count, share=count / total if total else 0.0)


def _rank(counts: Counter[str], total: int | None = None) -> dict[str, Share]:
    total = counts.total() if total is None else total
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return {name: _share(count, total) for name, count in ranked}


def _ascend(counts: Counter[int]) -> dict[int, Share]:
    return {number: _share(counts[number], counts.total()) for number in sorted(counts)}


def _mean(counts: Counter[int]) -> float:
    return sum(number * count for number, count in counts.items()) / counts.total() if counts else 0.0


def _find_largest(counts: Counter[str]) -> Largest:
    if not counts:
        return Largest()
    value, count = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ties = sum(one == count for one in counts.values())
    return Largest(value=value, count=count, share=count / counts.total(), ties=ties)


def _spread(counts: Counter[int]) -> NumberDistribution:
    if not counts:
        return NumberDistribution()
    return NumberDistribution(
        minimum=min(counts),
        lower_quartile=_find_rank(counts, 25),
        median=_find_rank(counts, 50),
        upper_quartile=_find_rank(counts, 75),
        percentile_95=_find_rank(counts, 95),
        maximum=max(counts),
        mean=_mean(counts),
    )


def _find_rank(counts: Counter[int], percent: int) -> int:
    """Nearest-rank percentile: the smallest number that at least `percent` % of the values do not exceed."""
    needed, seen = -(-percent * counts.total() // 100), 0
    for number in sorted(counts):
        seen += counts[number]
        if seen >= needed:
            return number
    return max(counts)
