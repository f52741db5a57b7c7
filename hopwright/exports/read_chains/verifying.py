"""Whether questions need their passages and are answered by them, as a model answers and a judge grades.

Three checks (AgenticRAGTracer, section 3.3): the answer is not known without passages, all gold passages together give
it, and no gold passage can be left out. An answer that is the right one letter for letter, by SQuAD's normalisation,
needs no judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hopwright.exports.read_chains.asking import ReadingAsker, cost_of
from hopwright.exports.read_chains.chains import AtomicPair, ReadChain
from hopwright.exports.read_chains.funnel import Funnel
from hopwright.exports.read_chains.rules import KNOWN_SCORE, RIGHT_SCORE, Fault, is_same
from hopwright.knowledge.documents.store import CorpusText
from hopwright.llm.answers import GradedAnswer
from hopwright.llm.asking import NO_COSTS, RequestCosts

ATOMIC = "atomic questions: verification"


@dataclass(frozen=True, slots=True)
class Trial:
    """A question with what is shown to whoever answers it."""

    question: str
    gold: str
    passages: tuple[CorpusText, ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """What was answered, and the judge's score from 0 to 2; None where one of the two requests failed."""

    score: int | None
    given: str
    spent: RequestCosts


def grade_trials(asker: ReadingAsker, trials: Sequence[Trial]) -> list[Grade]:
    """Have all trials answered and judged, in order."""
    answered = asker.send([asker.answer(one.question, one.passages) for one in trials])
    grades: list[Grade] = []
    judged: list[int] = []
    for place, (trial, outcome) in enumerate(zip(trials, answered, strict=True)):
        given = " ".join(outcome.text.split()) if outcome.ok else ""
        same = outcome.ok and is_same(given, trial.gold)
        grades.append(Grade(RIGHT_SCORE if same else None, given, cost_of(outcome)))
        if outcome.ok and not same:
            judged.append(place)
    requests = [asker.grade(trials[place].question, trials[place].gold, grades[place].given) for place in judged]
    for place, outcome in zip(judged, asker.send(requests), strict=True):
        said = outcome.parsed if outcome.ok else None
        score = said.score if isinstance(said, GradedAnswer) else None
        grades[place] = replace(grades[place], score=score, spent=grades[place].spent + cost_of(outcome))
    return grades


def verify_pairs(
    asker: ReadingAsker, funnel: Funnel, pairs: Sequence[tuple[AtomicPair, RequestCosts]]
) -> list[tuple[AtomicPair, RequestCosts]]:
    """The atomic questions that are not answered without their passage, and are with it."""
    funnel.enter(ATOMIC, len(pairs))
    kept = list(pairs)
    for with_passage in (False, True):
        trials = [Trial(pair.question, pair.answer, (pair.passage,) if with_passage else ()) for pair, _ in kept]
        grades = grade_trials(asker, trials)
        before, kept = kept, []
        for (pair, spent), grade in zip(before, grades, strict=True):
            if fault := _find_fault(grade, needed=with_passage):
                funnel.reject(ATOMIC, fault, pair.key, f"answered {grade.given!r}, where {pair.answer!r} is right")
            else:
                kept.append((pair, spent + grade.spent))
    return kept


def verify_chains(asker: ReadingAsker, funnel: Funnel, chains: Sequence[ReadChain]) -> list[ReadChain]:
    """The chains whose question passes all three checks. What each cost to verify is added to what it cost."""
    for chain in chains:
        funnel.enter(_stage(chain))
    kept = _keep(funnel, chains, grade_trials(asker, [Trial(one.question, one.answer) for one in chains]), needed=False)
    grades = grade_trials(asker, [Trial(one.question, one.answer, one.passages) for one in kept])
    kept = _keep(funnel, kept, grades, needed=True)
    return _keep_necessary(asker, funnel, kept)


def _keep(funnel: Funnel, chains: Sequence[ReadChain], grades: Sequence[Grade], *, needed: bool) -> list[ReadChain]:
    kept = []
    for chain, grade in zip(chains, grades, strict=True):
        if fault := _find_fault(grade, needed=needed):
            reason = f"answered {grade.given!r}, where {chain.answer!r} is right: {chain.question}"
            funnel.reject(_stage(chain), fault, chain.opening, reason)
        else:
            kept.append(replace(chain, spent=chain.spent + grade.spent))
    return kept


def _keep_necessary(asker: ReadingAsker, funnel: Funnel, chains: Sequence[ReadChain]) -> list[ReadChain]:
    """The chains none of whose gold passages can be left out."""
    trials = [
        (place, passage, Trial(chain.question, chain.answer, tuple(one for one in chain.passages if one != passage)))
        for place, chain in enumerate(chains)
        for passage in chain.passages
    ]
    grades = grade_trials(asker, [trial for _, _, trial in trials])
    spent = [NO_COSTS] * len(chains)
    refused: dict[int, tuple[Fault, str]] = {}
    for (place, passage, _), grade in zip(trials, grades, strict=True):
        spent[place] += grade.spent
        if grade.score is None:
            refused.setdefault(place, (Fault.REQUEST_FAILED, f"no grade without {passage.title}"))
        elif grade.score >= KNOWN_SCORE:
            refused.setdefault(place, (Fault.NOT_NECESSARY, f"answered {grade.given!r} without {passage.title}"))
    kept = []
    for place, chain in enumerate(chains):
        if place in refused:
            fault, reason = refused[place]
            funnel.reject(_stage(chain), fault, chain.opening, f"{reason}: {chain.question}")
        else:
            kept.append(replace(chain, spent=chain.spent + spent[place]))
    return kept


def _stage(chain: ReadChain) -> str:
    return f"{chain.name}: verification"


def _find_fault(grade: Grade, *, needed: bool) -> Fault | None:
    """What a grade says of a question: with `needed` passages it has to be right, without any it must not be known."""
    if grade.score is None:
        return Fault.REQUEST_FAILED
    if needed:
        return None if grade.score >= RIGHT_SCORE else Fault.NOT_SUFFICIENT
    return Fault.KNOWN if grade.score >= KNOWN_SCORE else None
