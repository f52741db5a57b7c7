"""Counterfactual twins: the same plan in a world that exists nowhere (CofCA, section 3.1).

Every entity of an item gets an invented name, every literal moves, the plan is run again and gives the new answers.
What cannot be done so without a trace of the original is rejected with the check that says why.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hopwright.counterfactual.constants import list_constants
from hopwright.counterfactual.distractors import move_distractors, rename_distractors
from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.invented_facts import FactInventor, RivalMaker
from hopwright.counterfactual.option_passages import list_untold_options
from hopwright.counterfactual.passage_context import (
    NO_PASSAGE_CONTEXT,
    PassageContext,
    TwinWorld,
    add_evidence,
    drop_evidence,
    find_unanswered,
    move_plan,
    rewrite_passages,
)
from hopwright.counterfactual.passage_phrases import list_role
from hopwright.counterfactual.passage_writer import PassageWriter
from hopwright.counterfactual.passages import RivalFact, collect_extra_evidence, list_asked_properties, list_rivals
from hopwright.counterfactual.real_names import (
    InventedNames,
    find_real_names,
    find_real_wording,
    find_role_gender,
    find_worded_gender,
    list_series,
    list_worded,
    move_bounds,
    rename_hop,
)
from hopwright.counterfactual.renamed_entities import (
    AliasSource,
    NameRules,
    RenamedEntity,
    assign_surrogate_names,
    collect_renamed_entities,
    list_aliases,
    list_names,
    list_texts,
)
from hopwright.counterfactual.shifts import LAST_YEAR
from hopwright.counterfactual.surrogate_names import Gender, SurrogateNameGenerator
from hopwright.counterfactual.twin_wording import EntityReplacement, TwinChanges, TwinNames, TwinWriter
from hopwright.counterfactual.worlds import SolvedWorld, solve_world
from hopwright.distractors.options import assign_options
from hopwright.errors import ExpressionError, HopwrightError, InputError
from hopwright.knowledge.facts import EvidenceFacts, write_scalar
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.execution import render_answer, run_plan, same, stated_value
from hopwright.records import CheckResult, Evidence, Hop, Item, Passage, Provenance, Rejected, Surrogate, plan_id
from hopwright.records.values import Scalar, Value, render
from hopwright.text.mentions import find_leftover, replace_names
from hopwright.wording.rules.rules_writer import EntityNaming, RulesWriter, Wording


class TwinMaker:
    """Makes twins of items over one graph. It keeps nothing between items: any order of shards gives the same twins."""

    def __init__(self, graph: AliasSource, names: EntityNaming, table: PropertyTable, *, seed: int) -> None:
        self._graph = graph
        self._names = names
        self._table = table
        self._seed = seed
        # What a small graph does not know may be a real name all the same: Denmark.
        self._namer = SurrogateNameGenerator(seed, lambda name: graph.knows_name(name) or bool(find_real_names(name)))
        self._writer = TwinWriter(RulesWriter(table), names)
        self._passages = PassageWriter(table)
        self._rivals = RivalMaker(graph, table, seed)

    def make_twin(
        self, item: Item, passage_context: PassageContext = NO_PASSAGE_CONTEXT, *, salt: int = 0
    ) -> Item | Rejected:
        """The item's counterfactual twin, or why there is none.

        passage_context: what its passages were made from. salt: another one gives other names, where those of 0 are
        taken.

        The twin's plan, run on the evidence that it carries, gives its answers; its names are known to nobody; no
        name of at least four letters of a replaced entity is left in it. `world` lists what was replaced, entities
        first: `QX3_…` stands for the third of them; a number's id there is `subject.property`.
        """
        try:
            return self._make(item, passage_context, salt)
        except TwinError as failure:
            check, reason = failure.check, failure.reason
        except HopwrightError as error:
            # An item that cannot be read (an answer that is no number, say) is a bad row, not the end of the shard.
            check, reason = "twin_input", str(error)
        return Rejected(key=item.id, check=check, reason=reason, row=item.model_dump_json())

    def _make(self, item: Item, passage_context: PassageContext, salt: int) -> Item:
        if any(hop.evidence.claims for hop in item.hops):
            # Its number comes from outside every graph: there is no other world in which it could be proven.
            raise TwinError("twin_claim", "it rests on a claim, which no world of a graph can prove")
        pairs = {*list_role("pairs")}
        if any(one.property in pairs for hop in item.hops for one in hop.evidence.triplets):
            raise TwinError("twin_pair", "it names two opponents as one, and no name that is made up stands for two")
        planned = passage_context.planned if passage_context.plans else ((),) * len(item.hops)
        has_passages = any(hop.evidence.passages for hop in item.hops)
        rivals = self._rivals.make(item, planned) if has_passages else ((),) * len(item.hops)
        told = tuple((*one, *other) for one, other in zip(planned, rivals, strict=True))
        extras = self._keep_readable(collect_extra_evidence(item, told))
        whole = add_evidence(item, extras)
        cast = _join_cast(collect_renamed_entities(whole, self._names, self._graph), passage_context.members)
        by_rules = item.provenance.generator == "rules" and all(
            plan is not None for hop in passage_context.plans for plan in hop
        )
        if by_rules:
            # No text speaks of them but the rules', which then know how.
            said = self._list_genders(whole)
            cast = tuple(_give_gender(member, f"{self._seed}:{item.id}", said.get(member.id, "")) for member in cast)
        gone = list_names(cast, self._graph)
        suffix = hashlib.blake2b(f"{self._seed}:{item.id}".encode(), digest_size=5).hexdigest()
        # The item's own suffix: two items whose plans have one shape would else get twins with one id.
        ids = {id: f"QX{n}_{suffix}" for n, id in enumerate((member.id for member in cast if member.id), start=1)}
        key = f"{item.id}:{salt}" if salt else item.id
        try:
            moved = self._move(item, whole, cast, ids, extras, gone, key, by_rules, constants=True)
        except TwinError as failure:
            if failure.check != "twin_wording":
                raise
            # A text that nobody words again does not show where a number of the plan stands in it: those numbers stay.
            moved = self._move(item, whole, cast, ids, extras, gone, key, by_rules, constants=False)
        world, hops, changes, surrogates = moved.world, moved.changes.hops, moved.changes, moved.surrogates
        new = TwinWorld(world, ids, cast, surrogates, TwinNames(self._names, changes), self._graph)
        further = (f"QX{n}_{suffix}" for n in itertools.count(len(ids) + 1))
        retold = [move_plan(plan, new) for plans in told for plan in plans]
        inventor = FactInventor(
            f"{self._seed}:{key}:invent",
            list_asked_properties(item),
            retold,
            new.names,
            self._namer,
            moved.rules,
            self._table,
            further,
            {ids[member.id]: member.gender for member in cast if member.id and member.gender},
            {
                ids.get(one, one): [RivalFact(held.property, ids.get(held.object, held.object)) for held in asked]
                for one, asked in list_rivals(item).items()
            },
        )
        untold = tuple(list_untold_options(item, retold, ids, new.names, self._table)) if by_rules else ()
        passages = rewrite_passages(item, passage_context, new, self._passages, inventor, rivals, untold)
        hops = tuple(
            _finish(hop, question, own)
            for hop, question, own in zip(hops, moved.wording.hop_questions, passages, strict=True)
        )
        hops, question, marked = self._rename_series(whole, hops, moved)
        twin_id = plan_id(
            item.topology, tuple(hop.derivation for hop in hops), "counterfactual", item.provenance.sources
        )
        finished = tuple(self._give_options(hop, twin_id) for hop in hops)
        last = finished[-1]
        if last.label is None:
            raise TwinError("twin_options", "the last hop has no distractors")
        twin = Item(
            id=twin_id,
            topology=item.topology,
            hops=finished,
            question=question,
            marked=marked,
            answer=last.answer,
            options=last.options,
            label=last.label,
            variant="counterfactual",
            twin=item.id,
            world=(
                *(Surrogate(original=c.label, surrogate=c.surrogate, id=c.id) for c in changes.entities),
                *moved.invented.list_replaced(c.label for c in changes.entities),
                *(
                    Surrogate(original=_show(old), surrogate=_show(new), id=f"{subject}.{property}")
                    for subject, property, old, new in world.literals
                ),
                *inventor.world,
            ),
            provenance=_copy_provenance(item.provenance, self._seed),
        )
        return twin.model_copy(update={"checks": self._verify(twin, gone)})

    def _move(
        self,
        item: Item,
        whole: Item,
        cast: Sequence[RenamedEntity],
        ids: Mapping[str, str],
        extras: Evidence,
        gone: Sequence[str],
        key: str,
        by_rules: bool,
        *,
        constants: bool,
    ) -> _MovedItem:
        """The item in a solved world, named and worded; whole: the item with the facts of its passages.

        by_rules: whether every text is worded again, so that a name need not fit into the old one.
        """
        world = solve_world(whole, cast, ids, self._table, self._seed, constants=constants)
        texts = list(list_texts(whole))
        rules = NameRules(texts, gone)
        invented = InventedNames(key, self._namer, rules)
        surrogates = assign_surrogate_names(
            key, texts, cast, self._namer, self._graph, world.years, rules, invented, articles=not by_rules
        )
        world = replace(world, hops=drop_evidence(item, world.hops, extras))
        aliases = list_aliases(cast, self._graph, surrogates)
        changes = TwinChanges(
            tuple(
                EntityReplacement(m.id, ids.get(m.id, ""), m.label, surrogates[m.key], m.kind, m.labels[1:])
                for m in cast
            ),
            _TwinRelabeller(item, cast, ids, surrogates, aliases, world).relabel_hops(),
            world.values,
        )
        return _MovedItem(world, rules, invented, surrogates, changes, self._writer.word(item, changes))

    def _rename_series(self, whole: Item, hops: Sequence[Hop], moved: _MovedItem) -> tuple[tuple[Hop, ...], str, str]:
        """The hops, the question and the marked question without the real names that the wordings bring with them."""
        years = move_bounds(whole.hops, self._table, moved.world.years, moved.world.base)
        texts = [moved.wording.question, moved.wording.marked, *(text for hop in hops for text in list_worded(hop))]
        question, marked, *rest = moved.invented.rename(texts, years)
        renamed = iter(rest)
        return tuple(rename_hop(hop, renamed) for hop in hops), question, marked

    def _list_genders(self, whole: Item) -> dict[str, Gender]:
        """The genders that the wordings of properties take for granted: `the see from which he came`."""
        found: dict[str, Gender] = {}
        for hop in whole.hops:
            told = [(one.subject, one.property) for one in hop.evidence.triplets]
            told += [(one.subject, one.property) for one in hop.evidence.literals]
            for subject, property in told:
                for series in list_series((property,), self._table):
                    if gender := find_worded_gender(series, self._table):
                        found.setdefault(subject, gender)
            for one in hop.evidence.triplets:
                column = self._table.entity.get(one.property)
                if column is not None and column.series and (gender := find_role_gender(column, self._table)):
                    found.setdefault(one.object, gender)
        return found

    def _keep_readable(self, evidence: Evidence) -> Evidence:
        """The facts without literals that no derivation and no passage can read."""
        literals = (one for one in evidence.literals if self._table.read(one) is not None)
        return evidence.replace(literals=tuple(literals))

    def _give_options(self, hop: Hop, twin_id: str) -> Hop:
        if not hop.distractors:
            return hop
        try:
            options, label = assign_options(hop.answer, hop.distractors, f"{self._seed}:{twin_id}:{hop.index}")
        except InputError as error:
            raise TwinError("twin_options", f"hop {hop.index}: {error}") from None
        return hop.model_copy(update={"options": options, "label": label})

    def _verify(self, twin: Item, gone: Sequence[str]) -> tuple[CheckResult, ...]:
        """Check the finished twin by itself, as a reader of the file could."""
        try:
            values = run_plan(twin.hops, EvidenceFacts(twin.hops, self._table), self._table)
        except ExpressionError as error:
            raise TwinError("twin_rederives", str(error)) from None
        for hop in twin.hops:
            if not same(values[hop.index], stated_value(hop)):
                raise TwinError("twin_rederives", f"hop {hop.index} states {hop.answer!r}, not {values[hop.index]}")
        left = find_leftover(list_texts(twin), gone)
        if left is not None:
            raise TwinError("twin_leftover", f"{left!r} is still there")
        if real := find_real_wording(twin, self._table):
            raise TwinError("twin_leftover", f"{real!r}, which the wordings bring with them, is still there")
        if unanswered := find_unanswered(twin):
            raise TwinError("twin_passages", unanswered)
        names = ["twin_rederives", "twin_leftover", "twin_names"]
        if any(hop.evidence.passages for hop in twin.hops):
            names.append("twin_passages")
        return tuple(CheckResult(name=name, outcome="pass") for name in names)


@dataclass(frozen=True, slots=True)
class _MovedItem:
    """An item in its new world, but for passages and options."""

    world: SolvedWorld
    rules: NameRules
    invented: InventedNames
    surrogates: Mapping[str, str]
    changes: TwinChanges
    wording: Wording


class _TwinRelabeller:
    """Writes the new names and numbers into hops whose plan already runs in the new world."""

    def __init__(
        self,
        item: Item,
        cast: Sequence[RenamedEntity],
        ids: Mapping[str, str],
        surrogates: Mapping[str, str],
        aliases: Mapping[str, str],
        world: SolvedWorld,
    ) -> None:
        self._item = item
        self._ids = ids
        self._surrogates = surrogates
        self._world = world
        self._labels = {ids[member.id]: surrogates[member.key] for member in cast if member.id}
        self._names = {**aliases, **{label: surrogates[member.key] for member in cast for label in member.labels}}
        self._operands = self._list_operands()
        self._shown = {str(number) for hop in world.hops for number in list_constants(hop.derivation)}

    def relabel_hops(self) -> tuple[Hop, ...]:
        """The twin's hops but for their questions and options."""
        return tuple(self._relabel(*pair) for pair in zip(self._item.hops, self._world.hops, strict=True))

    def _relabel(self, old: Hop, new: Hop) -> Hop:
        value = self._world.values[old.index]
        if isinstance(value, str):
            answer_id = value if old.answer_id else None
            answer = self._labels.get(value) or self._rewrite(old.answer)
            distractors = rename_distractors(old, answer_id, self._ids, self._surrogates)
        else:
            answer_id = None
            answer = render_answer(value, old.unit)
            # Its sub-question may state the numbers that it computes with.
            before = [(self._item.hops[index - 1], self._world.values[index]) for index in old.depends_on]
            stated = {render_answer(held, hop.unit) for hop, held in before if not isinstance(held, str)}
            stated |= {str(part) for _, held in before if isinstance(held, dt.date) for part in (held.day, held.year)}
            distractors = move_distractors(old, value, self._operands, self._shown | stated)
        return new.model_copy(
            update={
                "answer": answer,
                "answer_id": answer_id,
                "answer_aliases": (),
                "distractors": distractors,
                "options": {},
                "label": None,
                "evidence": self._relabel_evidence(new.evidence),
                "verify": "",  # nothing outside the item is true of its world
            }
        )

    def _relabel_evidence(self, evidence: Evidence) -> Evidence:
        return evidence.replace(
            triplets=[
                triplet.model_copy(
                    update={
                        "subject_label": self._label(triplet.subject, triplet.subject_label),
                        "object_label": self._label(triplet.object, triplet.object_label),
                    }
                )
                for triplet in evidence.triplets
            ],
            literals=[
                literal.model_copy(update={"subject_label": self._label(literal.subject, literal.subject_label)})
                for literal in evidence.literals
            ],
        )

    def _label(self, id: str, label: str) -> str:
        return self._labels.get(id) or self._rewrite(label)

    def _rewrite(self, text: str) -> str:
        return replace_names([text], self._names)[0] if text else text

    def _list_operands(self) -> dict[str, Scalar]:
        """How the numbers on the way were written, and what they are now; what stands for two is left out."""
        found: dict[str, Scalar | None] = {}
        pairs: list[tuple[str, Value]] = [
            (hop.answer, self._world.values[hop.index]) for hop in self._item.hops if hop.answer_type != "entity"
        ]
        pairs += [(_write(old), new) for _, _, old, new in self._world.literals]
        for text, value in pairs:
            if not isinstance(value, str):
                found[text] = value if found.get(text, value) == value else None
        return {text: value for text, value in found.items() if value is not None}


def _give_gender(member: RenamedEntity, key: str, said: Gender) -> RenamedEntity:
    """A person with a gender, so that a passage can speak of her or him: the original's, else the one that wordings
    take for granted, else a drawn one.
    """
    if member.kind != "person" or member.gender:
        return member
    drawn: Gender = said or random.Random(f"{key}:{member.key}").choice(("female", "male"))
    return replace(member, gender=drawn)


def _join_cast(cast: Sequence[RenamedEntity], mentioned: Sequence[RenamedEntity]) -> tuple[RenamedEntity, ...]:
    """The cast with whom its passages name beside it; a label that is somebody's already stays his."""
    joined = {member.key: member for member in cast}
    owner = {label: member.key for member in cast for label in member.labels}
    for member in mentioned:
        known = joined.get(member.key)
        labels = tuple(label for label in member.labels if owner.setdefault(label, member.key) == member.key)
        if known is not None:
            joined[member.key] = replace(known, labels=tuple(dict.fromkeys((*known.labels, *labels))))
        elif labels:
            joined[member.key] = replace(member, labels=labels)
    return tuple(joined.values())


def _finish(hop: Hop, question: str, passages: tuple[Passage, ...]) -> Hop:
    evidence = hop.evidence.replace(passages=passages)
    return hop.model_copy(update={"question": question, "evidence": evidence})


def _copy_provenance(provenance: Provenance, seed: int) -> Provenance:
    """The twin's: made by the same generator from the same sources, but no request was made for it."""
    return provenance.model_copy(
        update={
            "seed": seed,
            "request_keys": (),
            "input_tokens": 0,
            "output_tokens": 0,
            "cost_usd": 0.0,
            "anchor": None,
        }
    )


def _show(value: Scalar) -> str:
    """As `_write`, for the list of what was replaced: a date that stands for a whole year is that year."""
    return write_scalar(value) if isinstance(value, dt.date) else _write(value)


def _write(value: Scalar) -> str:
    """A literal as a reader would see it; what may be a year is written like one."""
    return render(value, year=isinstance(value, int) and 1000 <= value <= LAST_YEAR)
