"""Passages worded by rule: the facts of a plan in connected prose.

A passage opens with what its subject is and goes on in an order that suits its sort: a film's story before its crew, a
life from birth to death. Facts that belong together share a sentence (`passage_frames.toml`); what is left is told by
itself (`passage_phrases.toml`, else the property table). Every choice is drawn from the facts themselves, so the same
facts give the same words in every run.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence

from hopwright.counterfactual.passage_clauses import VAGUE_NOUNS, Clause, ClauseMaker, Form
from hopwright.counterfactual.passage_frames import LAST_GROUP, Frame, FrameFamily, ToldFact, find_family, find_role
from hopwright.counterfactual.passage_openings import Opener, Reference
from hopwright.counterfactual.passage_phrases import list_role
from hopwright.counterfactual.passages import PassagePlan
from hopwright.counterfactual.real_names import list_series
from hopwright.counterfactual.shifts import read_year
from hopwright.counterfactual.surrogate_names import split_person
from hopwright.counterfactual.twin_wording import strip_proper
from hopwright.knowledge.properties import PropertyTable
from hopwright.records import LiteralFact, Passage, Triplet
from hopwright.records.values import EntityKind
from hopwright.settings import LATEST_YEAR
from hopwright.text.phrases import sentence as capitalise
from hopwright.wording.rules.rules_writer import EntityNaming

_PRONOUNS = {"female": ("she", "her", "her"), "male": ("he", "him", "his")}
_PERFECT = re.compile(r"(?:\w+ed|had|been|taken|won|lost|made|held|built|shot|written|born|set)\b")
_UNMISTAKABLE = frozenset({"person", "place", "country", "nature", "fiction", ""})
"""What nobody takes an "it" for that speaks of a work or an event."""
_NO_WORKS = frozenset({"organization", "award", "event"})
"""What nobody takes an "it" for that speaks of a film: who distributed it, what it won, where it was shown."""
_APART = frozenset({"plot", "shoot", "aftermath"})
"""After what these tell, nobody knows what an "it" means."""
_NO_RIVALS = frozenset({"influence", "spouse"})
"""Who is named in a life without anybody's going on to speak of them."""
_LIFE = 85
"""Of whoever was born longer ago nobody says what they are."""
_MIDDLE = 50
_LONG = 100
"""So many letters of a list stand in a sentence of their own."""


class PassageWriter:
    """Words plans of passages by rule."""

    def __init__(self, table: PropertyTable) -> None:
        self._table = table
        self._maker = ClauseMaker(table)

    def word(self, plan: PassagePlan, names: EntityNaming, label: str | None = None) -> Passage:
        """One passage; `names` and `label` are those of the world that it tells of.

        All facts of the plan are told, each once, and nothing else; a literal that cannot be read is left out.
        """
        label = label or plan.subject_label
        rng = random.Random(f"{plan.subject}:{len(plan.triplets)}:{len(plan.literals)}:{plan.supporting}")
        clauses = self._maker.list_clauses(plan, names, rng)
        # "The 1903 Series was played in 1903": its name says so.
        clauses = [one for one in clauses if find_role(one.about) != "played" or one.fact.year not in label.split()]
        properties = [clause.about for clause in clauses]
        series = list_series(properties, self._table)
        kind, noun = names.kind(plan.subject), plan.calling or strip_proper(names.noun(plan.subject))
        family = find_family(series, noun, kind, properties)
        rng.shuffle(clauses)
        clauses.sort(key=lambda clause: _rank(clause.about, family))
        reference = _refer_to(plan, names, label, family.called.get(noun, noun), rng)
        opener = Opener(reference, family, kind, label, rng)
        opening = list(opener.open(clauses))
        sentences = [*opening, *_continue(clauses, family, reference, kind, rng)]
        text = " ".join(f"{capitalise(one).removesuffix('.')}." for one in sentences)
        return Passage(title=label, text=text, supporting=plan.supporting)


def _continue(
    clauses: list[Clause], family: FrameFamily, reference: Reference, kind: EntityKind, rng: random.Random
) -> Iterator[str]:
    """The sentences after the first, in which clauses stand together, alone or in pairs."""
    rest = [clause for clause in clauses if clause.own or clause.verb or find_role(clause.about)]
    used: set[str] = set()
    before = ""
    while rest:
        told, text = _choose(rest, family, used, before, reference, rng)
        for clause in told:
            rest.remove(clause)
        if not text:
            continue
        yield text
        before = _begins(text)
        # After a sentence about somebody else, an "it" is as far from what it means as from what stands between.
        apart = reference.pronouns[0] == "it" and before != "it" and not text.lower().startswith(reference.others)
        reference.unclear = apart or any(_is_unclear(clause, reference, kind) for clause in told)


def _choose(
    rest: Sequence[Clause],
    family: FrameFamily,
    used: set[str],
    before: str,
    reference: Reference,
    rng: random.Random,
) -> tuple[Sequence[Clause], str]:
    """The next sentence and the clauses that it tells: in a frame where one fits, else by their own wordings."""
    held = {find_role(clause.about): clause for clause in reversed(rest)}
    facts = {role: clause.fact for role, clause in held.items() if role}
    frame = _choose_frame(find_role(rest[0].about), family, facts, used, before, rng)
    if frame is not None:
        used.add(frame.text)
        return [held[role] for role in frame.roles], reference.fill(frame.fill(facts))
    first, second = rest[0], rest[1] if len(rest) > 1 else None
    fate = rng.random()
    if second is not None and max(len(one.fact.told) for one in (first, second)) > _LONG:
        second = None
    rank = _rank(first.about, family)
    # What a family has no place for has little to do with what else it has none for.
    if second is not None and (rank != _rank(second.about, family) or (family.frames and rank == _MIDDLE)):
        second = None
    if first.verb and second is not None and second.verb and fate < 0.5:
        subject = reference.fill("{s} ")
        return [first, second], subject + _join(_tell(first, "verb", reference), _tell(second, "verb", reference))
    if first.verb and second is not None and second.own and fate < 0.7:
        subject = reference.fill("{s} ")
        return [first, second], f"{subject}{_tell(first, 'verb', reference)}, and {_tell(second, 'own', reference)}"
    if first.own and (fate < 0.85 or not first.verb):
        return [first], reference.fill(rng.choice(first.own))
    if first.verb:
        return [first], reference.fill("{s} " + rng.choice(first.verb))
    return [first], ""


def _choose_frame(
    role: str,
    family: FrameFamily,
    facts: Mapping[str, ToldFact],
    used: set[str],
    before: str,
    rng: random.Random,
) -> Frame | None:
    """A frame with the fact that comes next: rather one that tells several, and begins otherwise than before."""
    fresh = (one for one in family.frames if role in one.roles and one.text not in used)
    fitting = [one for one in fresh if one.fits(facts, family.manners)]
    if not role or not fitting:
        return None
    scores = [
        1.2 * min(len(one.roles), 3) + 1.6 * rng.random() - (1.0 if _begins(one.text) == before else 0.0)
        for one in fitting
    ]
    return fitting[scores.index(max(scores))]


def _begins(text: str) -> str:
    """The first word of a sentence; one for all ways of speaking of the subject."""
    word = text.split()[0]
    return "it" if word == "{s}" else "its" if word == "{its}" else word.lower()


def _is_unclear(clause: Clause, reference: Reference, kind: EntityKind) -> bool:
    """Whether a pronoun in the next sentence could mean what the clause names."""
    if find_role(clause.about) in _APART:
        return True
    if reference.pronouns[0] != "it":
        return clause.object == "person" and find_role(clause.about) not in _NO_RIVALS
    return clause.object not in (_UNMISTAKABLE | _NO_WORKS if kind == "work" else _UNMISTAKABLE)


def _rank(property: str, family: FrameFamily) -> int:
    """The place of a fact in a passage: by its group; birth comes first in a life, and last its death and a list."""
    if find_role(property) == "works":
        return LAST_GROUP + 1
    if property in list_role("last"):
        return LAST_GROUP
    if property in list_role("first"):
        return -1
    return family.groups.get(find_role(property), _MIDDLE)


def _join(one: str, other: str) -> str:
    """Two predicates as one; what both begin with is said once: "has lived in X and worked in Y"."""
    (first, _, then), (second, _, rest) = one.partition(" "), other.partition(" ")
    perfect = [bool(_PERFECT.match(words)) for words in (then, rest)]
    if first == second and first in ("has", "had", "is", "was", "lies") and perfect[0] == perfect[1]:
        return f"{one} and {rest.removeprefix('had ') if then.startswith('had ') else rest}"
    return f"{one} and {other}"


def _tell(clause: Clause, form: Form, reference: Reference) -> str:
    return reference.fill(reference.rng.choice(getattr(clause, form)), plainly=True)


def _refer_to(plan: PassagePlan, names: EntityNaming, label: str, noun: str, rng: random.Random) -> Reference:
    kind = names.kind(plan.subject)
    noun = noun if noun not in VAGUE_NOUNS and noun.islower() else ""
    facts: tuple[Triplet | LiteralFact, ...] = (*plan.triplets, *plan.literals)
    gone = any(fact.property in list_role("gone") and fact.subject == plan.subject for fact in facts)
    born = [read_year(one.value) for one in plan.literals if one.property in list_role("birth")]
    gone = gone or any(year is not None and year < LATEST_YEAR - _LIFE for year in born)
    phrase = names.phrase(plan.subject)
    if kind not in ("person", "fiction"):
        head = noun.split()[-1] if noun else ""
        others = (f"the {head}",) if head and not head.endswith("s") else ()
        return Reference(phrase, noun, ("it", "it", "its"), others, gone, rng)
    family = split_person(label)[1] or label
    pronouns = _PRONOUNS.get(plan.gender)
    if pronouns is None:
        others = (f"the {noun}",) if noun else ()
        return Reference(phrase, noun, (family, family, f"{family}'s"), others, gone, rng)
    return Reference(phrase, noun, pronouns, (family,), gone, rng)
