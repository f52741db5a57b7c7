"""What the votes say about a set of items and about the voters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from pydantic import BaseModel, ConfigDict

from hopwright.difficulty.ballots import Ballot
from hopwright.difficulty.closed_book import ClosedBookAnswer, classify
from hopwright.difficulty.rule import DropRule
from hopwright.records import LABELS, Compute, Item, Rejected, Vote
from hopwright.records.migration import parse_item
from hopwright.scoring.agreement import count_values, find_cohen, find_fleiss

_BINS = 10
_EXAMPLES = 10
_CHECKS = ("too_easy", "held_back")


class _DifficultyFigures(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class VoteAccuracy(_DifficultyFigures):
    """How often a voter was right; `accuracy` is 0 without votes."""

    votes: int
    right: int
    accuracy: float


class Bin(_DifficultyFigures):
    """Votes whose confidence lies between `low` and `high` (0–1): how many, how sure on average, how often right."""

    low: float
    high: float
    votes: int
    confidence: float
    accuracy: float


class VoterReport(_DifficultyFigures):
    """One voter. `unanswered`: items that it was asked about without getting a vote.

    confidence: mean probability of the option chosen; None where the voter gives none. calibration_error: expected
    calibration error over ten bins. letters: how often an option was chosen that was shown under A, B, C, D.
    order_sensitivity: share of items on which the four orders of the options do not all give the same choice, None
    unless all four were shown; order_flips: share whose verdict (right or not) differs between some orders.
    """

    overall: VoteAccuracy
    unanswered: int = 0
    confidence: float | None = None
    calibration_error: float | None = None
    bins: tuple[Bin, ...] = ()
    letters: dict[str, int] = {}
    order_sensitivity: float | None = None
    order_flips: float | None = None


class Pair(_DifficultyFigures):
    """Two voters on the items on which both voted: share of equal options, and Cohen's kappa."""

    one: str
    other: str
    items: int
    agreement: float
    kappa: float | None


class Calls(_DifficultyFigures):
    """`asked`: votes asked for. `everyone`: what asking every voter about every item would take. `least`: the fewest
    votes that prove these verdicts, with which no way of asking can do without. `saved`: share of `everyone`."""

    asked: int
    everyone: int
    least: int
    saved: float
    most_savable: float


class ClosedBook(_DifficultyFigures):
    """One model's open answers. exact, f1: of the questions; hop_exact, hop_f1: of the hops that look something up.

    difficulty: items by what they were too difficult for.
    """

    items: int
    exact: float
    f1: float
    hops: int
    hop_exact: float
    hop_f1: float
    difficulty: dict[str, int]


class DroppedExample(_DifficultyFigures):
    """A dropped item in short."""

    id: str
    question: str
    options: dict[str, str]
    label: str
    votes: dict[str, str]


class DifficultyReport(_DifficultyFigures):
    """Everything about one run of the filter. `by`: dimension (topology, domain, computation) → value → voter → score.

    An item counts under each domain and each kind of computation that it has. Figures about a voter are over the items
    that it voted on, which are not all of them where asking stopped early. fleiss_kappa: over the items on which all
    voters voted.
    """

    items: int
    kept: int
    dropped: dict[str, int]
    order: tuple[str, ...] = ()
    voters: dict[str, VoterReport]
    by: dict[str, dict[str, dict[str, VoteAccuracy]]]
    pairs: tuple[Pair, ...]
    fleiss_kappa: float | None
    fleiss_items: int
    right_votes: dict[int, int]
    calls: Calls | None = None
    closed_book: dict[str, ClosedBook] = {}
    examples: dict[str, tuple[DroppedExample, ...]] = {}


@dataclass(frozen=True, slots=True)
class ReportedItem:
    """What the report keeps of an item: little, for there may be very many. check: empty for a kept item."""

    groups: tuple[tuple[str, str], ...]
    votes: tuple[Vote, ...]
    check: str


class ReportBuilder:
    """Takes the parts of a filter stage one after the other, then makes the report."""

    def __init__(self, voters: Sequence[str] = ()) -> None:
        self._names = list(voters)
        self._judged: list[ReportedItem] = []
        self._examples: dict[str, list[DroppedExample]] = {}
        self._unanswered: Counter[str] = Counter()
        self._letters: dict[str, Counter[str]] = defaultdict(Counter)
        self._orders: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
        self._probes: dict[str, dict[str, list[ClosedBookAnswer]]] = defaultdict(lambda: defaultdict(list))
        self._hops: dict[str, int] = {}
        self._labels: dict[str, int] = {}

    def add_items(self, kept: Iterable[Item], rejected: Iterable[Rejected] = ()) -> None:
        """Items with their votes; dropped ones are read back from their rows."""
        for item in kept:
            self._add(item, "")
        for row in rejected:
            if row.check in _CHECKS:
                self._add(parse_item(row.row), row.check)

    def add_ballots(self, ballots: Iterable[Ballot], unanswered: Iterable[Rejected], voter: str) -> None:
        """One voter's ballots and the items that it did not answer; the items must have been added before."""
        for ballot in ballots:
            for rotation, chosen in zip(ballot.shown, ballot.chosen, strict=True):
                self._letters[voter][LABELS[(chosen - rotation) % 4]] += 1
            if len(ballot.shown) == len(LABELS):
                gold = self._labels[ballot.item]
                rights = {chosen == gold for chosen in ballot.chosen}
                self._orders[voter].append((len(set(ballot.chosen)) > 1, len(rights) > 1))
        self._unanswered[voter] += sum(1 for _ in unanswered)

    def add_probes(self, probes: Iterable[ClosedBookAnswer]) -> None:
        """Open answers of the closed-book checks; their items must have been added before."""
        for probe in probes:
            self._probes[probe.voter][probe.item].append(probe)

    def make(
        self, *, rule: DropRule | None = None, asked: int | None = None, order: Sequence[str] = ()
    ) -> DifficultyReport:
        """The report; `asked` is the number of votes that were asked for."""
        present = dict.fromkeys(vote.model for one in self._judged for vote in one.votes)
        names = list(dict.fromkeys([*self._names, *present]))
        groups = sorted({group for one in self._judged for group in one.groups})
        scores: dict[tuple[str, str], dict[str, list[bool]]] = {group: defaultdict(list) for group in groups}
        votes: dict[str, list[Vote]] = {name: [] for name in names}
        for one in self._judged:
            for vote in one.votes:
                votes[vote.model].append(vote)
                for group in one.groups:
                    scores[group][vote.model].append(vote.right)
        by: dict[str, dict[str, dict[str, VoteAccuracy]]] = {}
        for dimension, value in groups:
            by.setdefault(dimension, {})[value] = {
                name: _score(scores[dimension, value][name]) for name in names if scores[dimension, value][name]
            }
        full = [one for one in self._judged if len(one.votes) == len(names)] if len(names) > 1 else []
        options = count_values([[LABELS.index(vote.option) for vote in one.votes] for one in full], len(LABELS))
        return DifficultyReport(
            items=len(self._judged),
            kept=sum(not one.check for one in self._judged),
            dropped=dict(sorted(Counter(one.check for one in self._judged if one.check).items())),
            order=tuple(order),
            voters={name: self._report_voter(name, votes[name]) for name in names},
            by=by,
            pairs=tuple(self._compare(one, other) for one, other in combinations(names, 2)),
            fleiss_kappa=_round(find_fleiss(options)),
            fleiss_items=len(full),
            right_votes=dict(sorted(Counter(sum(vote.right for vote in one.votes) for one in self._judged).items())),
            calls=None if rule is None or asked is None else self._count_calls(rule, asked),
            closed_book={voter: self._sum_up(voter) for voter in names if voter in self._probes},
            examples={check: tuple(found) for check, found in sorted(self._examples.items())},
        )

    def _add(self, item: Item, check: str) -> None:
        kinds: set[str] = {hop.derivation.kind for hop in item.hops if isinstance(hop.derivation, Compute)}
        groups = [("topology", item.topology)]
        groups += [("domain", domain.value) for domain in item.domains]
        groups += [("computation", kind) for kind in sorted(kinds) or ["none"]]
        self._judged.append(ReportedItem(tuple(groups), item.votes, check))
        self._hops[item.id] = len(item.hops)
        self._labels[item.id] = LABELS.index(item.label)
        if check and len(found := self._examples.setdefault(check, [])) < _EXAMPLES:
            found.append(
                DroppedExample(
                    id=item.id,
                    question=item.question,
                    options={label: item.options[label] for label in LABELS},
                    label=item.label,
                    votes={vote.model: vote.option for vote in item.votes},
                )
            )

    def _report_voter(self, name: str, votes: Sequence[Vote]) -> VoterReport:
        sure = [(max(vote.probabilities), vote.right) for vote in votes if vote.probabilities]
        bins = _bin(sure)
        orders = self._orders.get(name, [])
        return VoterReport(
            overall=_score([vote.right for vote in votes]),
            unanswered=self._unanswered[name],
            confidence=_round(fmean(confidence for confidence, _ in sure)) if sure else None,
            calibration_error=_round(
                sum(one.votes * abs(one.accuracy - one.confidence) for one in bins) / len(sure)
            ) if sure else None,
            bins=bins,
            letters={label: self._letters[name][label] for label in LABELS} if name in self._letters else {},
            order_sensitivity=_round(fmean(moved for moved, _ in orders)) if orders else None,
            order_flips=_round(fmean(flipped for _, flipped in orders)) if orders else None,
        )  # fmt: skip

    def _compare(self, one: str, other: str) -> Pair:
        pairs: list[tuple[str, str]] = []
        for judged in self._judged:
            options = {vote.model: vote.option for vote in judged.votes}
            if one in options and other in options:
                pairs.append((options[one], options[other]))
        same = sum(first == second for first, second in pairs)
        return Pair(
            one=one,
            other=other,
            items=len(pairs),
            agreement=round(same / len(pairs), 4) if pairs else 0.0,
            kappa=_round(find_cohen(pairs)),
        )

    def _count_calls(self, rule: DropRule, asked: int) -> Calls:
        everyone = rule.seats * len(self._judged)
        least = 0
        for one in self._judged:
            right = sum(vote.right for vote in one.votes)
            least += rule.count_least(right, len(one.votes) - right)
        return Calls(
            asked=asked,
            everyone=everyone,
            least=least,
            saved=round(1 - asked / everyone, 4) if everyone else 0.0,
            most_savable=round(1 - least / everyone, 4) if everyone else 0.0,
        )

    def _sum_up(self, voter: str) -> ClosedBook:
        by_item = self._probes[voter]
        whole = [probe for probes in by_item.values() for probe in probes if probe.hop == 0]
        hops = [probe for probes in by_item.values() for probe in probes if probe.hop and not probe.computes]
        kinds = Counter(classify(probes, self._hops[item]) for item, probes in by_item.items())
        return ClosedBook(
            items=len(whole),
            exact=_mean([probe.exact for probe in whole]),
            f1=_mean([probe.f1 for probe in whole]),
            hops=len(hops),
            hop_exact=_mean([probe.exact for probe in hops]),
            hop_f1=_mean([probe.f1 for probe in hops]),
            difficulty={kind: count for kind, count in sorted(kinds.items(), key=str) if kind is not None},
        )


def _bin(sure: Sequence[tuple[float, bool]]) -> tuple[Bin, ...]:
    """Ten bins of equal width; empty ones are left out."""
    filled: Mapping[int, list[tuple[float, bool]]] = defaultdict(list)
    for confidence, right in sure:
        filled[min(_BINS - 1, int(confidence * _BINS))].append((confidence, right))
    return tuple(
        Bin(
            low=number / _BINS,
            high=(number + 1) / _BINS,
            votes=len(found),
            confidence=round(fmean(confidence for confidence, _ in found), 4),
            accuracy=round(fmean(right for _, right in found), 4),
        )
        for number, found in sorted(filled.items())
    )


def _score(rights: Sequence[bool]) -> VoteAccuracy:
    return VoteAccuracy(votes=len(rights), right=sum(rights), accuracy=_mean(rights))


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 4) if values else 0.0


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
