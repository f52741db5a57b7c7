"""What an item's passages tell beside its plan, and how they read in the twin's world.

A passage that rules worded from a plan of facts is worded again from the same facts with the new names and numbers.
Every other one (a model's, a corpus's, one edited by hand) is rewritten mention by mention, as far as the graph knows
its names.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.invented_facts import FactInventor
from hopwright.counterfactual.mention_forms import is_distinctive_form, list_forms
from hopwright.counterfactual.option_passages import UntoldOption
from hopwright.counterfactual.passage_rewriting import PassageRewriter, move_years
from hopwright.counterfactual.passage_writer import PassageWriter
from hopwright.counterfactual.passages import HopPassages, PassagePlan, PassagePlanner
from hopwright.counterfactual.recognition import PARTICIPLES
from hopwright.counterfactual.renamed_entities import AliasSource, RenamedEntity
from hopwright.counterfactual.worlds import SolvedWorld
from hopwright.records import Compute, Evidence, Hop, Item, Passage
from hopwright.records.values import Scalar, render
from hopwright.text.mentions import find_mentions, replace_names, replace_number
from hopwright.wording.rules.rules_writer import EntityNaming

_OPENING = re.compile(r"(?:^|[.!?][\"”]? |\n)[\"“]?([^\W\d_]+)")
_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True, slots=True)
class PassageContext:
    """What a twin must know of an item's passages.

    plans: by hop, one entry a passage, None for a passage that no plan worded. members: whom those others name.
    """

    plans: tuple[tuple[PassagePlan | None, ...], ...] = ()
    members: tuple[RenamedEntity, ...] = ()

    @property
    def planned(self) -> HopPassages:
        """The plans that are there, by hop."""
        return tuple(tuple(plan for plan in hop if plan is not None) for hop in self.plans)


NO_PASSAGE_CONTEXT = PassageContext()


class PassageContextReader:
    """Finds out what an item's passages were made from."""

    def __init__(
        self, planner: PassagePlanner, writer: PassageWriter, names: EntityNaming, rewriter: PassageRewriter
    ) -> None:
        self._planner = planner
        self._writer = writer
        self._names = names
        self._rewriter = rewriter

    def read(self, item: Item) -> PassageContext:
        """The plans of the item's passages, where these are what the rules make of them; whom the others name."""
        if not any(hop.evidence.passages for hop in item.hops):
            return NO_PASSAGE_CONTEXT
        bare = item.model_copy(update={"hops": tuple(map(_strip_passages, item.hops))})
        drawn = [iter(hop) for hop in self._planner.plan(bare)]
        plans = tuple(
            tuple(self._match(passage, hop_plans) for passage in hop.evidence.passages)
            for hop, hop_plans in zip(item.hops, drawn, strict=True)
        )
        members: dict[str, RenamedEntity] = {}
        for hop, own in zip(item.hops, plans, strict=True):
            for passage, plan in zip(hop.evidence.passages, own, strict=True):
                if plan is None:
                    for member in self._rewriter.gather(passage.title, passage.text):
                        known = members.get(member.key)
                        labels = tuple(dict.fromkeys((*(known.labels if known else ()), *member.labels)))
                        members[member.key] = replace(member, labels=labels)
        return PassageContext(plans, tuple(members.values()))

    def _match(self, passage: Passage, plans: Iterator[PassagePlan]) -> PassagePlan | None:
        plan = next(plans, None)
        return plan if plan is not None and self._writer.word(plan, self._names) == passage else None


@dataclass(frozen=True, slots=True)
class TwinWorld:
    """The twin's world, as its passages need it."""

    world: SolvedWorld
    ids: Mapping[str, str]
    cast: Sequence[RenamedEntity]
    surrogates: Mapping[str, str]
    names: EntityNaming
    graph: AliasSource
    _forms: dict[str, str] = field(default_factory=dict)

    def label(self, id: str) -> str:
        """What an entity of the original is called now; empty when it kept its name."""
        return self.surrogates.get(id, "")

    @property
    def forms(self) -> dict[str, str]:
        """Form → what it becomes, for texts that are rewritten mention by mention."""
        if not self._forms:
            self._forms.update(list_forms(self.cast, self.graph, self.surrogates, self.graph.knows_name))
        return self._forms


def rewrite_passages(
    item: Item,
    passage_context: PassageContext,
    new: TwinWorld,
    writer: PassageWriter,
    inventor: FactInventor,
    rivals: HopPassages,
    untold: Sequence[UntoldOption],
) -> list[tuple[Passage, ...]]:
    """The item's passages in the new world, by hop, with those about rivals and untold options at the end of a hop's.

    The inventor gives what rules word further facts.
    """

    def word(plan: PassagePlan) -> Passage:
        moved = inventor.add_facts(move_plan(plan, new))
        return writer.word(moved, inventor.names, new.label(plan.subject) or None)

    rewritten: list[tuple[Passage, ...]] = []
    untold = inventor.settle(untold)
    for place, hop in enumerate(item.hops):
        plans = passage_context.plans[place] if passage_context.plans else (None,) * len(hop.evidence.passages)
        own = (
            word(plan) if plan is not None else _rewrite(passage, new)
            for passage, plan in zip(hop.evidence.passages, plans, strict=True)
        )
        options = (inventor.tell_of(option) for option in untold if option.hop == place)
        rewritten.append((*own, *map(word, rivals[place] if rivals else ()), *map(word, options)))
    return rewritten


def add_evidence(item: Item, extras: Evidence) -> Item:
    """The item with further facts at the end of its first hop that looks something up, for the world to move too."""
    if not extras.triplets and not extras.literals:
        return item
    place = _find_first_lookup_hop(item)
    host = item.hops[place]
    evidence = host.evidence.replace(
        triplets=(*host.evidence.triplets, *extras.triplets), literals=(*host.evidence.literals, *extras.literals)
    )
    hops = (*item.hops[:place], host.model_copy(update={"evidence": evidence}), *item.hops[place + 1 :])
    return item.model_copy(update={"hops": hops})


def drop_evidence(item: Item, hops: tuple[Hop, ...], extras: Evidence) -> tuple[Hop, ...]:
    """The hops of the solved world without the facts that `add_evidence` put there."""
    if not extras.triplets and not extras.literals:
        return hops
    place = _find_first_lookup_hop(item)
    evidence = hops[place].evidence
    kept = evidence.replace(
        triplets=evidence.triplets[: len(evidence.triplets) - len(extras.triplets)],
        literals=evidence.literals[: len(evidence.literals) - len(extras.literals)],
    )
    return (*hops[:place], hops[place].model_copy(update={"evidence": kept}), *hops[place + 1 :])


def find_unanswered(item: Item) -> str:
    """Which answer is in none of its hop's passages, in words; empty when all are, or where there are no passages.

    What is computed from numbers stands in no passage; what is compared stands there by name.
    """
    for hop in item.hops:
        evidence = hop.evidence
        if not any(passage.supporting for passage in evidence.passages):
            continue
        if isinstance(hop.derivation, Compute) and hop.answer_type != "entity":
            continue
        texts = [
            text
            for passage in evidence.passages
            if passage.supporting
            for text in (passage.title, passage.text, passage.text.replace('"', ""))  # a title within a name is quoted
        ]
        if not any(next(find_mentions(text, form), None) is not None for text in texts for form in _list_writings(hop)):
            return f"hop {hop.index}: {hop.answer!r} is in none of its passages"
    return ""


def _list_writings(hop: Hop) -> Iterator[str]:
    """How a passage may write an answer: as it stands, with a small article, and a date the American way."""
    yield hop.answer
    if hop.answer.startswith("The "):
        yield f"the {hop.answer[4:]}"
    yield from hop.answer_aliases
    words = hop.answer.split()
    if hop.answer_type == "date" and len(words) == 3:
        yield f"{words[1]} {words[0]}, {words[2]}"


def _find_first_lookup_hop(item: Item) -> int:
    return next(place for place, hop in enumerate(item.hops) if not isinstance(hop.derivation, Compute))


def _strip_passages(hop: Hop) -> Hop:
    return hop.model_copy(update={"evidence": hop.evidence.replace(passages=())})


def move_plan(plan: PassagePlan, new: TwinWorld) -> PassagePlan:
    """What a passage tells, in the new world."""
    triplets = tuple(
        one.model_copy(update={"subject": new.ids.get(one.subject, one.subject), "object": new.ids.get(object, object)})
        for one in plan.triplets
        for object in (new.world.objects.get((one.subject, one.property, one.object), one.object),)
        if object
    )
    literals = tuple(
        one.model_copy(
            update={
                "subject": new.ids.get(one.subject, one.subject),
                "value": new.world.moved.get((one.subject, one.property, one.value), one.value),
            }
        )
        for one in plan.literals
    )
    return replace(plan, subject=new.ids.get(plan.subject, plan.subject), triplets=triplets, literals=literals)


def _rewrite(passage: Passage, new: TwinWorld) -> Passage:
    """A passage that no plan worded: names by their forms, numbers of the item exactly, other years with the world."""
    moved = [_move_numbers(text, new) for text in (passage.title, passage.text)]
    years = {move_years(form, new.world.base): becomes for form, becomes in new.forms.items()}
    title, text = replace_names(moved, {**years, **new.forms})
    rewritten = passage.model_copy(update={"title": title, "text": text})
    if fault := find_rewriting_fault(passage, rewritten, new.forms):
        raise TwinError("twin_passages", fault)
    return rewritten


def find_rewriting_fault(old: Passage, new: Passage, forms: Mapping[str, str]) -> str:
    """What a passage lost when its names were replaced; empty when it states what it stated.

    forms: form → what it became. Every name that the old text mentions has its counterpart in the new one, and a
    sentence that opened with a common word ("Born in …") still does.
    """
    before, after = list(_list_openings(old.text)), list(_list_openings(new.text))
    if len(before) != len(after):
        # A full stop within a name ("Bros.") opens no sentence; then sentences cannot be told apart by it.
        before = after = []
    for one, other in zip(before, after, strict=True):
        if one != other and not is_distinctive_form(one) and not any(form.startswith(one) for form in forms):
            return f"{new.title!r} has a sentence that opened with {one!r} and now does with {other!r}"
    for word in PARTICIPLES & set(before):
        if word in forms:
            return f"{new.title!r}: {word!r} was taken for a name"
    return ""


def _list_openings(text: str) -> Iterator[str]:
    """The first word of each sentence, where it is one of letters."""
    for match in _OPENING.finditer(text):
        yield match[1]


def _move_numbers(text: str, new: TwinWorld) -> str:
    """Numbers that the item rests on become what they are now; all other years move with the world."""
    fixed: dict[str, str] = {}
    for _, _, old, value in new.world.literals:
        for one, other in _list_number_forms(old, value):
            fixed.setdefault(one, other)
    # Names with numbers in them are none of this function's business.
    kept = [form for form in new.forms if any(map(str.isdigit, form)) and form in text]
    holes: dict[str, str] = {}
    for form in sorted(kept, key=lambda form: (-len(form), form)):
        hole = f"\x02{len(holes)}\x03"
        text = text.replace(form, hole)
        holes[hole] = form
    for one in sorted(fixed, key=lambda one: (-len(one), one)):
        hole = f"\x02{len(holes)}\x03"
        text, count = replace_number(text, one, hole)
        if count:
            holes[hole] = fixed[one]
    text = _shift_other_years(text, new.world.base)
    for hole, content in reversed(holes.items()):
        text = text.replace(hole, content)
    return text


def _shift_other_years(text: str, base: int) -> str:
    parts = re.split("(\x02\\d+\x03)", text)
    return "".join(part if part[:1] == "\x02" else move_years(part, base) for part in parts)


def _list_number_forms(old: Scalar, new: Scalar) -> Iterator[tuple[str, str]]:
    if not isinstance(old, dt.date) or not isinstance(new, dt.date):
        yield render(old), render(new)
        return
    yield render(old), render(new)
    yield _write_american(old), _write_american(new)
    yield f"{old.day} {_MONTHS[old.month - 1]}", f"{new.day} {_MONTHS[new.month - 1]}"
    yield str(old.year), str(new.year)


def _write_american(date: dt.date) -> str:
    return f"{_MONTHS[date.month - 1]} {date.day}, {date.year}"
