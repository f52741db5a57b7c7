"""Look-ups: from a named entity to another, onwards from entity to entity, and to a literal."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from hopwright.planning.computation_forms import (
    EndMember,
    EndOfMaker,
    Extreme,
    NextOfList,
    read_computation,
)
from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.execution import hops_used
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.joint_works import accept_of_joint
from hopwright.planning.operations.lookahead import (
    FEWEST_OTHERS,
    LIST_OPERATIONS,
    NAMED_LIST_OPERATIONS,
    OF_BOTH,
    fits_partner,
    list_entered,
    list_joint_partners,
    list_parallel,
    list_parting,
    list_partners,
    satisfies_reader,
)
from hopwright.planning.operations.operation_inputs import (
    choose_number,
    has_full_date,
    is_chosen_by,
    list_events,
    list_in_common,
)
from hopwright.planning.operations.starting_points import draw_first_edge, draw_paired_edge, list_end_partners
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.random_draws import draw
from hopwright.planning.traversals import Edge
from hopwright.records import Constraint, Lookup, ReverseLookup

_TITLE = 3
"""Words, small ones aside, from which on a title is taken to be that of one work only."""
_SMALL_WORDS = frozenset("a an the of and in on to for at is".split())


def lead(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A named subject's fact; a later branch starts from what is named already, or from what belongs with it."""
    if context.forced is not None:
        return builder.walk(context.forced)
    if context.reader in OF_BOTH and context.partners and not context.anchor:
        return builder.walk(_choose_partner(builder, context))
    if builder.topics:
        edges = list_partners(builder, context) or list_parallel(builder, context)
        if not edges:
            raise PlanningDeadEnd(DeadEnd.NOTHING_OF_TOPIC)
        return builder.walk(builder.choose_close(edges))
    wanted = satisfies_reader(builder, context)
    if context.anchor and wanted(context.anchor) and builder.traversals.lookups_to(context.anchor):
        return builder.lead(context.anchor)
    if context.anchor:
        # The anchor itself is asked about.
        builder.name(context.anchor)
        return builder.extend(StepOutput("entity", context.anchor, context.anchor), wanted)
    joined = not OF_BOTH.isdisjoint(context.readers[1:])  # then the other branch looks for what goes with this one
    if context.branch == "lead" and not joined:
        return builder.walk(draw_paired_edge(builder, context))
    return builder.walk(draw_first_edge(builder, context))


def _choose_partner(builder: PlanBuilder, context: OperationContext) -> Edge:
    """A fact of the same work that leads to somebody with whom the one already found made something."""
    topic = builder.topics[0] if builder.topics else ""
    found = [
        edge
        for edge in list_joint_partners(builder, context.readers, context.partners[0].entity, topic)
        if builder.admits(edge.object)
    ]
    if not found:
        raise PlanningDeadEnd(DeadEnd.NOTHING_TOGETHER)
    # Not by domain: whoever wrote a film would be asked about again and again, and hardly anybody who photographed it.
    return draw(builder.rng, found)


def extend(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """From an entity to another."""
    (state,) = inputs
    if context.forced is not None:
        edge = context.forced
        if state.entity == edge.subject:
            return builder.walk(edge, state.ref)
        if state.entity == edge.object:
            return builder.walk(edge, state.ref, backward=True)
        raise PlanningDeadEnd(DeadEnd.ANCHOR_HOP_DOES_NOT_FOLLOW)
    wanted = satisfies_reader(builder, context)
    partner = context.partners[0].entity if context.partners else ""
    accepts = _accept_of_series(builder, state) or _accept_of_list(builder, state)
    if not context.readers:
        accepts = accepts or accept_of_joint(builder, state)
    return builder.extend(
        state,
        lambda entity: wanted(entity) and fits_partner(builder, context.readers, partner, entity),
        like=_rivals(builder, state),
        refused=_list_refused(builder, state, last=not context.readers),
        accepts=accepts,
    )


def neighbour_of_both(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The only one that two have in common of what each of them has: the country that borders both."""
    one, other = inputs
    suits = satisfies_reader(builder, context)
    for property, shared in list_in_common(builder, one.entity, other.entity):
        if builder.admits(shared) and suits(shared):
            builder.take(shared)
            step = ReverseLookup(
                property=property, value=one.ref, constraints=(Constraint(property=property, value=other.ref),)
            )
            return StepOutput("entity", builder.add(step, shared), shared)
    raise PlanningDeadEnd(DeadEnd.NOTHING_IN_COMMON)


def year(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The year of an entity's event."""
    found = list_entered(builder, context.readers, inputs[0].entity)
    if context.reader in LIST_OPERATIONS:
        found = [m for m in list_parting(builder, context.readers, inputs[0].entity) if not has_full_date(m)]
    if not found:
        raise PlanningDeadEnd(DeadEnd.NO_FITTING_EVENT)
    measure = builder.prefer_measure(found)
    _refuse_compared(builder, inputs[0], measure.property)
    _require_of_rivals(builder, inputs[0], measure.property)
    return builder.measure(inputs[0].ref, measure)


def date(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The full date of an entity's event."""
    found = [m for m in builder.traversals.measures(inputs[0].entity) if isinstance(m.value, dt.date) and m.entry.ask]
    if context.reader in LIST_OPERATIONS | NAMED_LIST_OPERATIONS:
        found = [m for m in list_parting(builder, context.readers, inputs[0].entity) if has_full_date(m)]
    elif context.reader == "age":  # one of two is born, and something happens to the other
        born = context.branch == "named-date"
        found = [m for m in found if (m.property == builder.traversals.roles.birth) == born]
    if not found:
        raise PlanningDeadEnd(DeadEnd.NO_FULL_DATE)
    measure = builder.prefer_measure(found)
    _refuse_compared(builder, inputs[0], measure.property)
    _require_of_rivals(builder, inputs[0], measure.property)
    return builder.measure(inputs[0].ref, measure, full_date=True)


def number(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A stable number of an entity."""
    measure = choose_number(builder, inputs[0].entity, context)
    _refuse_compared(builder, inputs[0], measure.property)
    _require_of_rivals(builder, inputs[0], measure.property)
    return builder.measure(inputs[0].ref, measure)


def named_year(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The year of an event of what the plan is about."""
    measures = [
        measure
        for topic in builder.topics[:1]
        for measure in builder.traversals.measures(topic)
        if measure.property in list_events(builder, topic)
        and measure.entry.year_ask
        and (measure.property != builder.traversals.roles.birth or context.reader == "age-in-year")
        and _is_telling(builder, topic)
    ]
    if measures:
        measure = builder.prefer_measure(measures)
        return builder.measure(measure.entity, measure)
    raise PlanningDeadEnd(DeadEnd.TOPIC_WITHOUT_EVENT)


def named_date(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The day of an event of what the plan is about, where it is known: the first performance of an opera."""
    birth = builder.traversals.roles.birth
    measures = [
        measure
        for topic in builder.topics[:1]
        for measure in builder.traversals.measures(topic)
        if has_full_date(measure) and measure.property != birth and _is_telling(builder, topic)
    ]
    if not measures:
        raise PlanningDeadEnd(DeadEnd.TOPIC_WITHOUT_EVENT)
    measure = builder.prefer_measure(measures)
    return builder.measure(measure.entity, measure, full_date=True)


def _is_telling(builder: PlanBuilder, topic: str) -> bool:
    """Whether a name means one work only, wherever it stands alone: short titles are those of several.

    A work whose maker is the only one that the source has is told by its class: the opera "Tosca".
    """
    if builder.traversals.roles.made & {property for property, _ in builder.traversals.graph.out_edges(topic)}:
        return True
    words = builder.traversals.graph.label(topic).lower().split()
    telling = [word for word in words if word not in _SMALL_WORDS]
    return builder.traversals.kinds.kind(topic) != "work" or len(telling) >= _TITLE


def named_birth(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The date of birth of a person whom the plan names."""
    for topic in builder.topics[:1]:
        for measure in builder.traversals.measures(topic):
            if measure.property == builder.traversals.roles.birth and has_full_date(measure):
                return builder.measure(topic, measure, full_date=True)
    raise PlanningDeadEnd(DeadEnd.TOPIC_WITHOUT_BIRTHDAY)


def _list_refused(builder: PlanBuilder, state: StepOutput, *, last: bool) -> frozenset[str]:
    """Properties that are not asked of an entity: where that happened by which it was chosen, and what all know."""
    form = read_computation(builder.find_derivation(state.ref))
    roles = builder.traversals.roles
    if isinstance(form, NextOfList | EndOfMaker):
        return roles.seldom | roles.crew if last else frozenset()
    if isinstance(form, Extreme):
        place = frozenset({roles.event_places.get(form.property, "")})
        of_list = roles.crew if form.members is not None else frozenset()
        return place | roles.seldom | of_list if last else place
    graph, table = builder.traversals.graph, builder.traversals.table.entity
    beside = {one for one, _ in graph.out_edges(state.entity) if one in table and not table[one].closes}
    if isinstance(form, EndMember):
        return (roles.trivial | roles.seldom if last else frozenset()) | beside
    return roles.trivial | roles.seldom | beside if last else frozenset()


def _accept_of_series(builder: PlanBuilder, state: StepOutput) -> Callable[[Edge], bool] | None:
    """Which facts are asked of the first or the last of a series; None where no such end led there.

    Of a member it is what is known of all members, but not what the plan names one by, and where people were born.
    Whoever takes the last for the first finds something else there, of the same kind.
    """
    if not (short := _find_short(builder, state.ref)):
        return None
    graph, table, kind = builder.traversals.graph, builder.traversals.table, builder.traversals.kinds.kind
    steps = [one.derivation for one in builder.draft.steps]
    named = {one.property for one in steps if isinstance(one, ReverseLookup)}
    form = read_computation(builder.find_derivation(state.ref))
    named |= {form.column} if isinstance(form, EndMember) else set()
    person = kind(state.entity) == "person"

    def accepts(edge: Edge) -> bool:
        missed = graph.objects(short, edge.property)
        if len(missed) != 1 or missed[0] == edge.object or kind(missed[0]) != kind(edge.object):
            return False
        entry = table.entity[edge.property]
        if isinstance(form, EndMember) and entry.series == form.series:
            return edge.property not in named
        if person:
            return edge.property in builder.traversals.roles.homes
        # The highest mountain of the country that won a contest has nothing to do with the contest.
        return not isinstance(form, EndMember) and not builder.traversals.is_place(state.entity)

    return accepts


def _accept_of_list(builder: PlanBuilder, state: StepOutput) -> Callable[[Edge], bool] | None:
    """Which facts are asked of what lies next to a moment in a whole list; None where no such step led there.

    Of what the maker of a named work made first it is with whom they made more. Of anything else the same has to be
    known of what lies on either side of it: whoever is off by one finds something else there.
    """
    form = read_computation(builder.find_derivation(state.ref))
    if isinstance(form, EndOfMaker):
        (owner,) = builder.traversals.graph.objects(form.reference, form.maker)
        partners = list_end_partners(builder, owner, state.entity, largest=form.largest)
        return lambda edge: (edge.property, edge.object) in partners
    if isinstance(form, NextOfList):
        property = form.property
    elif isinstance(form, Extreme) and form.members is not None and form.moment and not form.members.credit:
        property = form.members.property
    else:
        return None
    graph = builder.traversals.graph
    beside: set[tuple[str, bool]] = set()
    near: set[str] = set()
    for owner in graph.subjects(property, state.entity):
        for whole in builder.traversals.whole_lists(owner):
            listed = [one for _, one in whole.dates]
            if whole.property == property and state.entity in listed:
                place = listed.index(state.entity)
                across = place - 1 if form.later else place + 1
                beside |= {(listed[one], one == across) for one in (place - 1, place + 1) if 0 <= one < len(listed)}
                near |= {one for _, one in whole.list_near(state.entity)}

    def accepts(edge: Edge) -> bool:
        for one, across in beside:
            found = graph.objects(one, edge.property)
            if not found or (across and (len(found) != 1 or found[0] == edge.object)):
                return False
        # Whoever takes another of the list finds something else, and three such things are offered.
        others = {end for one in near for end in graph.objects(one, edge.property)}
        return edge.object not in others and len(others) >= FEWEST_OTHERS

    return accepts


def _find_short(builder: PlanBuilder, reference: str) -> str:
    """What stands in the place of a hop's answer for whoever takes the other end of a series; empty without an end."""
    derivation = builder.find_derivation(reference)
    if isinstance(form := read_computation(derivation), EndMember):
        return _find_other_end(builder, form, str(builder.draft.steps[int(form.reference[3:]) - 1].value))
    if not isinstance(derivation, Lookup) or not (short := _find_short(builder, derivation.subject)):
        return ""
    missed = builder.traversals.graph.objects(short, derivation.property)
    return missed[0] if len(missed) == 1 else ""


def _find_other_end(builder: PlanBuilder, form: EndMember, shared: str) -> str:
    """The last of what several members of a series share, where the first is asked for, and the other way round."""
    recurring = builder.traversals.recurrences.get(shared, ())
    ends = (one.members[0 if form.last else -1] for one in recurring if one.column == form.column)
    return next(ends, "")


def _rivals(builder: PlanBuilder, state: StepOutput) -> tuple[str, ...]:
    """The entities that lost the comparison of two branches which an entity won; the same is asked of them."""
    derivation = builder.find_derivation(state.ref)
    form = read_computation(derivation)
    if derivation is None or not isinstance(form, Extreme) or form.members is not None:
        return ()
    compared = (builder.draft.steps[hop - 1].value for hop in hops_used(derivation))
    return tuple(str(one) for one in compared if one != state.entity)


def _require_of_rivals(builder: PlanBuilder, state: StepOutput, property: str) -> None:
    """What is asked of a winner has to be known of the losers as well: theirs are the likeliest wrong answers."""
    for rival in _rivals(builder, state):
        if all(measure.property != property for measure in builder.traversals.measures(rival)):
            raise PlanningDeadEnd(DeadEnd.ASKED_OF_WINNER_ALONE)


def _refuse_compared(builder: PlanBuilder, state: StepOutput, property: str) -> None:
    """Who was born first is not asked for the year of the birth: that would be found by comparing alone."""
    if is_chosen_by(builder, state, (property,)):
        raise PlanningDeadEnd(DeadEnd.COMPARED_IS_ASKED)
