"""How varied a set of items is, and whether its options can be guessed: figures, limits, and what misses them."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter

from pydantic import BaseModel, ConfigDict

from hopwright.checks.case import CheckContext, CheckedItem
from hopwright.checks.guessing import CHANCE, LEAST_COVERAGE, GuessTally
from hopwright.checks.option_view import view_hop
from hopwright.knowledge.external.tally import ClaimFigures, ClaimTally
from hopwright.records import Item, plan_id
from hopwright.reporting.rendering import Markdown, load_template, show_bound, show_table

OPENING_WORDS = 3
MOST_OPENING = 0.08
MOST_ANSWER = 0.02
_NAME, _NUMBER = "◇", "#"
_NUMBERS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORD_NUMBERS = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.IGNORECASE)
_CAPITALS = re.compile(r"(?<=[a-z,(] )(?:[A-Z][\w.’'-]*)(?: (?:of|the|de|la|in|and)? ?[A-Z][\w.’'-]*)*|\"[^\"]+\"")
_CONSTANTS = re.compile(r"\bcl-[a-p]{16}|\bQ[0-9A-Za-z_]+|(?<![\w.])\d+(?:\.\d+)?")
_EXAMPLES = 5


class _ScorecardFigures(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Frequent(_ScorecardFigures):
    """A text that occurs often: how often, and its share of the items (0–1)."""

    text: str
    count: int
    share: float


class SolverScore(_ScorecardFigures):
    """How often a solver that sees options only (and the words of the question) is right. See `guessing`.

    `struck`: how often a guess is right once what the solver points to is struck out. `coverage`: the share of the
    questions that it speaks on.
    """

    solver: str
    tried: int
    accuracy: float
    bound: float
    met: bool
    struck: float = CHANCE
    coverage: float = 1.0

    def describe_excess(self) -> str:
        """By how much one that is not met is right too often."""
        if self.accuracy > self.bound:
            return f"{self.accuracy:.1%} right, at most {self.bound:.1%}"
        return f"{self.struck:.1%} right once what it points to is struck out, at most {self.bound:.1%}"


class Threshold(_ScorecardFigures):
    """One limit: what is measured, the most that it may be, what it is, and whether that is met."""

    name: str
    limit: float
    value: float
    met: bool

    def text(self) -> str:
        """In one line."""
        verdict = "met" if self.met else "not met"
        return f"{self.name}: {show_bound(self.value)}, at most {show_bound(self.limit)}: {verdict}"


class Scorecard(_ScorecardFigures):
    """Variety and guessability of a set of items. Shares lie between 0 and 1; words are split at spaces."""

    items: int
    distinct_plans: int
    """Different derivations with different constants."""
    distinct_plan_shapes: int
    """Different derivations with the constants left out: topology, operations and properties."""
    distinct_openings: int
    """Of the first three words of the questions."""
    openings: tuple[Frequent, ...]
    """The commonest, largest share first."""
    distinct_answers: int
    answers: tuple[Frequent, ...]
    words_per_question: dict[int, int]
    """Words → questions, ascending."""
    median_words: int
    distinct_1: float
    """Different words over all words of the questions."""
    distinct_2: float
    """Different pairs of neighbouring words over all such pairs."""
    distinct_templates: int
    """Different questions once names and numbers are masked."""
    template_share: float
    """Share of the items whose masked question another item has too."""
    templates: tuple[Frequent, ...]
    item_solvers: tuple[SolverScore, ...]
    """On the multi-hop questions with their options."""
    hop_solvers: tuple[SolverScore, ...]
    """On all sub-questions but comparisons, which name two of their options."""
    distractor_kinds: dict[str, float]
    """Share of the distractors of each kind, over all hops."""
    kinds_per_hop: dict[int, float]
    """Number of different kinds among a hop's three → share of the hops."""
    thresholds: tuple[Threshold, ...]
    claims: ClaimFigures = ClaimFigures()
    """What rests on numbers that no graph holds."""

    @property
    def met(self) -> bool:
        """Whether every limit is kept."""
        return all(one.met for one in self.thresholds)

    @property
    def missed(self) -> tuple[str, ...]:
        """Every limit that is not kept, and every guesser that is too often right, a line each."""
        levels = {"multi-hop questions": self.item_solvers, "sub-questions": self.hop_solvers}
        return (
            *(f"{one.name}: {show_bound(one.value)}, at most {show_bound(one.limit)}"
              for one in self.thresholds if not one.met),
            *(f"guesser {one.solver}, {level}: {one.describe_excess()}"
              for level, solvers in levels.items() for one in solvers if not one.met),
        )  # fmt: skip


class ScorecardMaker:
    """Counts items one by one; keeps counters and digests, not texts.

    `context`: where the solvers that go by conditions, eras and popularity look those up; without one they are silent.
    """

    def __init__(self, context: CheckContext | None = None) -> None:
        self._context = context
        self._items = 0
        self._plans: set[bytes] = set()
        self._shapes: set[bytes] = set()
        self._openings: Counter[str] = Counter()
        self._answers: Counter[str] = Counter()
        self._lengths: Counter[int] = Counter()
        self._words: Counter[str] = Counter()
        self._pairs: Counter[bytes] = Counter()
        self._templates: Counter[str] = Counter()
        self._item_guesses = GuessTally()
        self._hop_guesses = GuessTally()
        self._kinds: Counter[str] = Counter()
        self._kinds_per_hop: Counter[int] = Counter()
        self._claims = ClaimTally()

    def add(self, case: CheckedItem) -> None:
        """Count one item."""
        item = case.item
        self._items += 1
        if case.planned:
            self._plans.add(_digest(plan_id(item.topology, tuple(hop.derivation for hop in item.hops))))
            self._shapes.add(_digest(_outline(item)))
            self._claims.add(item)
        words = item.question.split()
        self._openings[find_opening(item.question)] += 1
        self._answers[item.answer] += 1
        self._lengths[len(words)] += 1
        lower = [word.casefold().strip('.,?!"“”()') for word in words]
        self._words.update(lower)
        self._pairs.update(_digest(f"{one} {other}") for one, other in itertools.pairwise(lower))
        self._templates[mask_question(case)] += 1
        whole = view_hop(case, case.last, self._context, final=True)
        if whole is not None:
            self._item_guesses.add(whole)
        for hop in item.hops:
            alone = None if case.by_selection(hop) else view_hop(case, hop, self._context)
            if alone is not None:
                self._hop_guesses.add(alone)
            if hop.distractors:
                kinds = [one.kind for one in hop.distractors]
                self._kinds.update(kinds)
                self._kinds_per_hop[len(set(kinds))] += 1

    def finish(self) -> Scorecard:
        """The scorecard of what was counted."""
        shared = sum(count for count in self._templates.values() if count > 1)
        openings, answers = _rank(self._openings, self._items), _rank(self._answers, self._items)
        item_solvers = _list_solvers(self._item_guesses)
        hop_solvers = _list_solvers(self._hop_guesses)
        return Scorecard(
            items=self._items,
            distinct_plans=len(self._plans),
            distinct_plan_shapes=len(self._shapes),
            distinct_openings=len(self._openings),
            openings=openings,
            distinct_answers=len(self._answers),
            answers=answers,
            words_per_question=dict(sorted(self._lengths.items())),
            median_words=_find_median(self._lengths),
            distinct_1=_divide(len(self._words), self._words.total()),
            distinct_2=_divide(len(self._pairs), self._pairs.total()),
            distinct_templates=len(self._templates),
            template_share=_divide(shared, self._items),
            templates=_rank(self._templates, self._items),
            item_solvers=item_solvers,
            hop_solvers=hop_solvers,
            distractor_kinds={kind: _divide(n, self._kinds.total()) for kind, n in sorted(self._kinds.items())},
            kinds_per_hop={
                kinds: _divide(count, self._kinds_per_hop.total())
                for kinds, count in sorted(self._kinds_per_hop.items())
            },
            thresholds=(
                _hold("commonest opening of a question", MOST_OPENING, openings[0].share if openings else 0.0),
                _hold("commonest final answer", _allow(MOST_ANSWER, self._items), answers[0].share if answers else 0.0),
                _hold_solvers("solvers above chance, multi-hop questions", item_solvers),
                _hold_solvers("solvers above chance, sub-questions", hop_solvers),
            ),
            claims=self._claims.finish(),
        )


def find_opening(question: str) -> str:
    """The words with which a question begins, as they are counted."""
    return " ".join(question.split()[:OPENING_WORDS])


def mask_question(case: CheckedItem) -> str:
    """A question with its names and numbers masked: what is left is the template."""
    text = case.item.question
    if case.planned:
        names = {label for label in case.labels.values() if not label.islower()}
        for name in sorted(names, key=lambda name: (-len(name), name)):
            if name in text:
                text = text.replace(name, _NAME)
    text = _CAPITALS.sub(_NAME, text)
    text = _WORD_NUMBERS.sub(_NUMBER, _NUMBERS.sub(_NUMBER, text))
    return text.replace(f'"{_NAME}"', _NAME).replace(f"the {_NAME}", _NAME)


def render_scorecard(card: Scorecard) -> str:
    """The scorecard as Markdown."""
    by_item, by_hop = ({one.solver: one for one in scores} for scores in (card.item_solvers, card.hop_solvers))
    rows = [
        {
            "solver": solver,
            **_show_guesses("multi-hop", by_item.get(solver)),
            **_show_guesses("sub-questions", by_hop.get(solver)),
        }
        for solver in dict.fromkeys([*by_item, *by_hop])
    ]
    return load_template("hopwright.reporting", "scorecard.md.j2").render(
        card=card, opening_words=OPENING_WORDS, chance=CHANCE, least_coverage=LEAST_COVERAGE, solvers=show_table(rows)
    )


def _outline(item: Item) -> str:
    """A plan without its constants: topology, operations, properties and how they hang together."""
    texts = [_CONSTANTS.sub("_", hop.derivation.model_dump_json()) for hop in item.hops]
    return f"{item.topology}|{'|'.join(texts)}"


def _list_solvers(tally: GuessTally) -> tuple[SolverScore, ...]:
    return tuple(
        SolverScore(
            solver=one.solver,
            tried=one.tried,
            accuracy=round(one.accuracy, 4),
            bound=round(one.bound, 4),
            met=not one.guessable,
            struck=round(one.struck, 4),
            coverage=round(one.coverage, 4),
        )
        for one in tally.scores()
    )


def _hold(name: str, limit: float, value: float) -> Threshold:
    return Threshold(name=name, limit=limit, value=value, met=value <= limit)


def _hold_solvers(name: str, solvers: tuple[SolverScore, ...]) -> Threshold:
    return _hold(name, 0, sum(not one.met for one in solvers))


def _allow(share: float, items: int) -> float:
    """A share that a small set can keep: one item of thirty is more than two in a hundred."""
    return max(share, 1 / items) if items else share


def _rank(counts: Counter[str], total: int) -> tuple[Frequent, ...]:
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_EXAMPLES]
    return tuple(Frequent(text=text, count=count, share=count / total) for text, count in ranked)


def _find_median(counts: Counter[int]) -> int:
    seen = 0
    for number in sorted(counts):
        seen += counts[number]
        if 2 * seen >= counts.total():
            return number
    return 0


def _divide(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _show_guesses(level: str, one: SolverScore | None) -> dict[str, int | Markdown | None]:
    right, struck = ("", "") if one is None else (f"{one.accuracy:.1%}", f"{one.struck:.1%}")
    if one is not None and not one.met:
        right, struck = (f"**{right}**", struck) if one.accuracy > one.bound else (right, f"**{struck}**")
    return {
        f"{level}: tried": None if one is None else one.tried,
        f"{level}: right": None if one is None else Markdown(right),
        f"{level}: struck": None if one is None else Markdown(struck),
        f"{level}: bound": None if one is None else Markdown(f"{one.bound:.1%}"),
    }
