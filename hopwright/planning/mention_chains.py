"""Chains of steps over a window: the answer of each hop is a name that the next hop's question asks by."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Literal, get_args

from hopwright.knowledge.named_windows import NamedWindow
from hopwright.planning.mention_proofs import Refuted, StepProof, WindowProver
from hopwright.planning.mention_steps import FREE, NUMBERS, Step, StepFinder

BANDS = (2_000, 16_000)
"""Where near ends and where far begins, in tokens between the paragraphs of two hops that follow each other."""
Reach = Literal["one", "near", "middle", "far"]
REACHES: tuple[Reach, ...] = get_args(Reach)
_BREADTH = 6
_ONCE = frozenset(["voice", "first", "last", "where", "mentioned", "site", "answered", "teller"])
"""Steps that a chain has once each: "the next speaker after the next speaker after …" is a riddle of words."""
_NAMED = frozenset(["companion", "place", "first", "last", "where"])
"""Steps that ask for no more than who is named beside whom."""
_HEARD = frozenset(["mentioned", "site", "answered"])
"""Steps about what is said, where a chapter or spoken words say which words are meant."""
_TIMES = 3
"""How often chains are gone through."""
_MIX = 4
"""So many names more a chain may give and be taken before another one."""
_COUNTING_SHARE = 12
"""One in so many chains ends with a number of chapters, or of a chapter."""


@dataclass(frozen=True, slots=True)
class ProvenChain:
    """A chain with its proofs. distances: tokens from each hop's paragraph to the next one's. depth: where in the
    window the paragraph with the final answer begins, from 0 to 1."""

    steps: tuple[Step, ...]
    proofs: tuple[StepProof, ...]
    distances: tuple[int, ...]
    depth: float

    @property
    def kinds(self) -> str:
        """The kinds of its steps, in order."""
        return ">".join(step.kind for step in self.steps)

    @property
    def band(self) -> str:
        """How far apart its hops lie, by the mean of their distances, and in which third of the window it ends."""
        return f"{name_reach(self.distances)} {min(int(3 * self.depth), 2)}"


@dataclass(slots=True)
class ChainTally:
    """What came of the chains that were drawn: `drawn = proven + refuted`."""

    drawn: int
    proven: int
    refuted: Counter[str]


class ChainDrawer:
    """Draws chains of one window and proves them. Drawn by the seed and the key alone."""

    def __init__(
        self, window: NamedWindow, tokens: int, asked: frozenset[int], seed: int, key: str, *, by_model: bool = False
    ) -> None:
        self._window = window
        self._tokens = max(tokens, 1)
        self._prover = WindowProver(window)
        self._finder = StepFinder(window, asked, by_model=by_model)
        self._openings = self._finder.list_openings()
        self._following: dict[int, list[Step]] = {}
        self._seed = seed
        self._key = key

    def draw(
        self, hops: int, most: int, tally: ChainTally, least_distance: int = 0, most_distance: int = 0
    ) -> list[ProvenChain]:
        """At most `most` proven chains of so many hops, whose neighbouring hops are from `least_distance` to
        `most_distance` tokens apart; 0 sets no limit."""
        apart = range(least_distance, (most_distance or self._tokens) + 1)
        rng = random.Random(f"{self._seed}:{self._key}:{hops}")
        openings = list(self._openings)
        rng.shuffle(openings)
        # How many chapters lie between, or where somebody is named last, is no question of its own about a text.
        openings = [step for step in openings if _fits(step, last=hops == 1) and (hops > 1 or step.kind not in NUMBERS)]
        found: list[ProvenChain] = []
        seen: set[tuple[Step, ...]] = set()
        for steps in self._list_chains(openings, hops, rng, apart):
            if steps in seen:
                continue
            seen.add(steps)
            tally.drawn += 1
            proofs = self._prover.prove(steps)
            if isinstance(proofs, Refuted):
                tally.refuted[f"{proofs.proof}: {proofs.reason}"] += 1
                continue
            tally.proven += 1
            found.append(measure_chain(self._window, self._tokens, steps, proofs))
            if len(found) == most:
                break
        return found

    def _list_chains(
        self, openings: Sequence[Step], hops: int, rng: random.Random, apart: range
    ) -> Iterator[tuple[Step, ...]]:
        """Chains of hops about the story, then those with one hop about where names stand, then the others."""
        for most_bare in sorted({0, 1, hops}):
            # Kinds that open many chains would hide the others: one of each kind in turn.
            for opening in _interleave([one for one in openings if count_bare([one]) <= most_bare]):
                yield from self._continue((opening,), hops, rng, apart, most_bare)

    def _continue(
        self, steps: tuple[Step, ...], hops: int, rng: random.Random, apart: range, most_bare: int
    ) -> Iterator[tuple[Step, ...]]:
        if len(steps) == hops:
            yield steps
            return
        last = steps[-1]
        following = self._following.get(last.answer)
        if following is None:
            following = self._following[last.answer] = self._finder.list_following(last.answer)
        taken = {clue for step in steps for clue in step.clues} | {step.answer for step in steps}
        used = {place for step in steps for place in step.places}
        told = {step.kind for step in steps} & _ONCE
        fit = [
            step for step in following
            if step.kind not in told and not used & set(step.places) and not taken & set(step.clues)
            and count_bare((*steps, step)) <= most_bare
            and (step.ends or step.answer not in taken) and _fits(step, last=len(steps) + 1 == hops)
            and self._distance(last, step) in apart
        ]  # fmt: skip
        for step in _draw_few(fit, rng):
            yield from self._continue((*steps, step), hops, rng, apart, most_bare)

    def _distance(self, one: Step, other: Step) -> int:
        paragraphs = self._window.paragraphs
        return abs(paragraphs[one.places[0]].position - paragraphs[other.places[0]].position)


def name_reach(distances: Sequence[int]) -> Reach:
    """How far apart the hops of a chain lie, by the mean of the tokens between them; `one` for a single hop."""
    if not distances:
        return "one"
    mean = fmean(distances)
    return "near" if mean < BANDS[0] else "middle" if mean < BANDS[1] else "far"


def measure_chain(
    window: NamedWindow, tokens: int, steps: tuple[Step, ...], proofs: tuple[StepProof, ...]
) -> ProvenChain:
    """A proven chain with the distances of its hops and the depth of its answer in a window of so many tokens."""
    paragraphs = window.paragraphs
    places = [paragraphs[step.places[0]].position for step in steps]
    distances = tuple(abs(one - other) for one, other in pairwise(places))
    return ProvenChain(steps, proofs, distances, round(places[-1] / max(tokens, 1), 4))


def select_chains(chains: Sequence[ProvenChain], most: int, seed: int, key: str) -> list[ProvenChain]:
    """At most `most` of these: kinds, distances, depths, and openings with spoken words in turn, those about the story
    first, of these the ones with few names; no answer in more than a tenth, one in twelve ending with a number, no step
    in more than a fiftieth, or in a book with few, in a twelfth."""
    rng = random.Random(f"{seed}:{key}:select")
    tiers: dict[int, _Groups] = defaultdict(lambda: defaultdict(list))
    for chain in chains:
        opens = len(chain.steps) > 1 and chain.steps[0].quotation >= 0
        tiers[count_bare(chain.steps)][chain.steps[-1].kind, chain.band, opens].append(chain)
    names = sorted({name for groups in tiers.values() for name in groups})
    for _, groups in sorted(tiers.items()):
        for _, held in sorted(groups.items()):
            rng.shuffle(held)
            # The fewer names a question gives, the better it is followed; yet no kind of opening hides another.
            held.sort(key=lambda chain: _count_names(chain) + rng.randrange(_MIX), reverse=True)
    # A small set would otherwise have the first kinds and bands of the alphabet alone.
    rng.shuffle(names)
    share, often = max(2, -(-most // 10)), max(3, most // 50)
    selection = _Selection(most)
    for _ in range(_TIMES):
        for tier in sorted(tiers):
            tiers[tier] = selection.take(tiers[tier], names, share, often)
        # Where a book has too few, the same steps are taken more often, behind all others.
        often *= 2
    return selection.taken


_Groups = dict[tuple[str, str, bool], list[ProvenChain]]


class _Selection:
    """Chains that are selected, at most `most`."""

    def __init__(self, most: int) -> None:
        self.taken: list[ProvenChain] = []
        self._most = most
        self._answers: Counter[tuple[bool, int]] = Counter()
        self._used: Counter[Step] = Counter()
        self._counting = 0

    def take(
        self, groups: _Groups, order: Sequence[tuple[str, str, bool]], share: int, often: int
    ) -> _Groups:
        """Take one of each group in turn, no answer oftener than `share` and no step oftener than `often`; gives those
        that were passed over, in groups."""
        passed: _Groups = defaultdict(list)
        before = -1
        while before < len(self.taken) < self._most:
            before = len(self.taken)
            for name in order:
                held = groups.get(name, [])
                while held and len(self.taken) < self._most and self._may_end(name[0]):
                    chain = held.pop()
                    if self._fits(chain, share, often):
                        self._add(chain)
                        break
                    passed[name].append(chain)
        return {name: [*groups.get(name, []), *passed[name][::-1]] for name in order}

    def _may_end(self, kind: str) -> bool:
        return kind not in NUMBERS or _COUNTING_SHARE * self._counting + 6 <= len(self.taken)

    def _fits(self, chain: ProvenChain, share: int, often: int) -> bool:
        last = chain.steps[-1]
        rare = last.answer == FREE or self._answers[last.ends, last.answer] < share
        return rare and all(self._used[step] < often for step in chain.steps)

    def _add(self, chain: ProvenChain) -> None:
        last = chain.steps[-1]
        self._answers[last.ends, last.answer] += 1
        self._used.update(chain.steps)
        self._counting += last.kind in NUMBERS
        self.taken.append(chain)


def count_bare(steps: Sequence[Step]) -> int:
    """How many of these hops ask for no more than where names stand, or, as one hop alone, for words to be found again;
    a question of a model's is about what it likes."""
    if len(steps) == 1 and steps[0].kind == "speaker":
        return 1
    return sum(
        step.kind in _NAMED or (step.kind in _HEARD and not step.chapter and step.quotation < 0)
        for step in steps
    )


def _count_names(chain: ProvenChain) -> int:
    """The names that a question about a chain gives."""
    return sum(len(step.clues) for step in chain.steps)


def _fits(step: Step, *, last: bool) -> bool:
    """Whether a step may stand there: what no hop can follow stands last, and a model's last answer is its own."""
    return step.ends == last if step.kind == "asked" else last or not step.ends


def _interleave(steps: Sequence[Step]) -> Iterator[Step]:
    by_kind: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        by_kind[step.kind].append(step)
    while by_kind:
        for kind in sorted(by_kind):
            yield by_kind[kind].pop()
        by_kind = {kind: held for kind, held in by_kind.items() if held}


def _draw_few(steps: Sequence[Step], rng: random.Random) -> list[Step]:
    """Some of the steps, of as many kinds as there are."""
    mixed = list(steps)
    rng.shuffle(mixed)
    by_kind: dict[str, list[Step]] = defaultdict(list)
    for step in mixed:
        by_kind[step.kind].append(step)
    few = [held[round_] for round_ in range(2) for _, held in sorted(by_kind.items()) if round_ < len(held)]
    rng.shuffle(few)
    return few[:_BREADTH]
