"""Wrong options for a hop, three of them: of the answer's type and form, false, and each what a slip would yield.

All meet what the question states openly (see `open_conditions`), and at least two come from a named slip: the plan
run with one hop's wrong answer, the loser of a comparison, what meets every condition but the computed one, a property
taken for another, the same fact of a similar thing, and for numbers slips of computation. Where no such three exist,
the reason is given instead. A hop that compares two, or three, offers these and nothing else.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from hopwright.checks.choices import find_odd_trait
from hopwright.checks.guessing import overlap
from hopwright.checks.open_conditions import (
    FEWEST_COMPARED,
    is_hidden_choice,
    is_met,
    list_compared,
    list_conditions,
    read_open_conditions,
)
from hopwright.distractors.computation_slips import list_slips
from hopwright.distractors.hop_task import (
    HopTask,
    OptionShortage,
    Reader,
    count_needed,
    find_compared,
    join_three,
)
from hopwright.distractors.list_slips import ListSlips
from hopwright.distractors.number_options import MOST_YEARS_OFF, NumberOptions
from hopwright.distractors.own_world import OTHER_CALLING, OwnWorld, count_quarters
from hopwright.distractors.proposers import propose
from hopwright.distractors.ranking import MOST_CANDIDATES, OptionCandidate, choose_three
from hopwright.distractors.series_slips import Beside, SeriesSlips
from hopwright.distractors.shared_credits import SharedCredits
from hopwright.distractors.suitability import BESIDE_IN_TIME, MOST_HOLDERS, Suitability
from hopwright.distractors.wrong_turns import WrongTurns
from hopwright.errors import InputError
from hopwright.knowledge.facts import Facts, GraphFacts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.confusions import BESIDE_IN_PLACE, CONFUSED_ROLES
from hopwright.knowledge.wikidata.nearby_values import NearbyValues
from hopwright.knowledge.wikidata.similar_entities import EntityKindSource, Side, SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, NextOfList, read_computation
from hopwright.planning.execution import resolve_given, stated_value
from hopwright.records import Compute, Distractor, DistractorKind, Hop, Lookup, ReverseLookup
from hopwright.records.values import Value, as_float
from hopwright.text.matching import fold, pad

_DRAWN = 2.0
"""What makes up for being far better, or less, known than the answer, in points of closeness."""
_WEIGHTS = (1.5, 1.5, 2.0, 3.5, 0.7, 3.0, 1.5)
"""Of words shared with the question, capitals, length, popularity, alphabet, what comes next, and what is compared."""
_LIKENESS_WEIGHTS = (1.5, 2.5, 1.5, 4.0)
"""Of form, names, facts and time (see `choose_three`)."""
_NEXT_IN_LIST = 5
"""Of a whole list that a moment parts, so many that come next to the answer are offered."""
_SHARED = 0
"""Place of the trait that counts the words that an option shares with the question."""
_ACTIVE = 5
"""Years by which what somebody made lies apart at most from what is asked about."""
_WELL_SUPPLIED = 6
_OFFERED = 4
"""So many wrong answers of the compared hops leave no need for others."""
_MOST_SIBLINGS = 1
"""Options that no slip yields, but that are merely of the same sort."""
_MOST_GATHERED = 48
"""Entities that are looked at before those nearest to the answer's own world are kept."""
_STRANGE = 12.0
"""What each point of foreignness costs, in points of closeness."""
_FEWEST_NEAR = 6
"""So many candidates leave a choice by which nothing of their form shows."""
_FOREIGN, _MOST_STRANGERS = 1.5, 1
"""Points from which on somebody is dropped on sight, and how many such stand beside an answer on the way."""
_NATIVE = 0.75
"""Points of foreignness up to which a candidate counts as of the answer's own world."""
_LED_TO = 1.5
"""Points of foreignness that are forgiven at the end of a plan to what a wrong option on the way leads to."""
_LINKED = 1.0
"""Points of foreignness that are forgiven to whoever did the same for a work that shares a person with the one asked
about.
"""
_UNTRIED = 3.0
"""Points for somebody of the answer's country and calling who never was to anything what is asked for."""
_NEAR_TERMS = 6
"""Years by which the terms of two holders lie apart at most and are taken for neighbouring."""
_MOST_OFF = 0.75
"""Points that a date counts at most which the next hop gives: no British novelist wrote what Visconti filmed, whenever
he died.
"""
_MOST_FAMOUS, _KNOWN = 3, 8
"""So many times the facts that the source has of the right one, or of one with so many, has a wrong one at most."""
_DRAWN_WIDELY, _KEPT_OF_DRAWN = 24, 3

Likeness = Callable[[str, str], float]
"""How alike two names are, 0–1."""


class DistractorMaker:
    """Makes distractors over one graph. The same seed, hop and likeness give the same three."""

    def __init__(
        self,
        graph: GraphStore,
        table: PropertyTable,
        kinds: EntityKindSource,
        seed: int,
        *,
        facts: Facts | None = None,
        likeness: Likeness = overlap,
    ) -> None:
        self._graph = graph
        self._table = table
        self._seed = seed
        self._facts = facts if facts is not None else GraphFacts(graph, table)
        self._siblings = SimilarEntities(graph, kinds)
        self._values = NearbyValues(graph, self._facts, self._siblings)
        self._world = OwnWorld(graph, self._siblings)
        makers = (table.roles.made | table.roles.makers) - set(table.credits)
        self._credits = SharedCredits(graph, self._facts, self._siblings, makers)
        self._series = SeriesSlips(self._facts, table)
        self._lists = ListSlips(self._facts, table, lambda one: self._siblings.card(one).label)
        self._suitability = Suitability(graph, table, self._facts, self._siblings, self._world)
        self._turns = WrongTurns(graph, table, self._facts, self._siblings, self._values, self._lists)
        self._numbers = NumberOptions(table, self._facts, self._siblings, self._turns)
        self._likeness = likeness
        self._compare_names = functools.lru_cache(200_000)(self._like_by_name)
        self._compare_facts = functools.lru_cache(200_000)(self._siblings.kinship)
        self._around = functools.lru_cache(50_000)(self._list_around)

    def make(
        self,
        hop: Hop,
        answers: Mapping[int, Value],
        earlier: Sequence[Hop],
        asked: str = "",
        proposed: Sequence[Value] = (),
        key: str = "",
        reader: Reader | None = None,
    ) -> tuple[Distractor, ...] | OptionShortage:
        """Make three distractors for a hop, or say why there are none.

        `answers` holds the values of the earlier hops, `earlier` those hops with their distractors; `asked` is the
        multi-hop question where the hop is its last. `proposed` are further candidates, ids or numbers; they are chosen
        by the same rules as all others. `key`: the item's id, so that the same hop in another item gets others.
        `reader`: what comes next; where that can be, each wrong option leads on to something else there.
        """
        proposed = [*proposed, *propose(hop, answers)]
        made = self._make(hop, answers, earlier, asked, proposed, key, reader)
        if reader is not None and isinstance(made, OptionShortage):
            made = self._make(hop, answers, earlier, asked, proposed, key, reader, loosely=True)
        if not isinstance(made, OptionShortage) and len(made) >= FEWEST_COMPARED - 1:
            odd = find_odd_trait(hop.answer, [one.text for one in made])
            return OptionShortage("form", f"the right option alone {odd}") if odd else made
        return made

    def _make(
        self,
        hop: Hop,
        answers: Mapping[int, Value],
        earlier: Sequence[Hop],
        asked: str,
        proposed: Sequence[Value],
        key: str,
        reader: Reader | None,
        *,
        loosely: bool = False,
    ) -> tuple[Distractor, ...] | OptionShortage:
        """`loosely`: wrong options need not lead on, as long as none leads to the right one at the next hop."""
        way = "|".join(one.question for one in earlier)
        rng = random.Random(f"{self._seed}:{key}|{way}|{hop.question}|{hop.answer}")
        try:
            value = stated_value(hop)
        except InputError as error:
            return OptionShortage("value", str(error))
        task = HopTask(hop, answers, earlier, asked, rng, reader, loosely)
        if isinstance(value, dt.date):
            return self._numbers.make_dates(task, value)
        if isinstance(value, str):
            if hop.answer_type != "entity" or hop.answer_id is None:
                return OptionShortage("value", f"{hop.answer!r} is no entity")
            return self._make_entities(task, hop.answer_id, [one for one in proposed if isinstance(one, str)])
        return self._numbers.make(task, value, [one for one in proposed if isinstance(one, int | Decimal)])

    def _list_held(self, sources: Sequence[str], property: str, answer: str) -> list[str]:
        """What entities alone have for a property, each once, the answer aside: of several nobody is the answer."""
        leading = self._list_sources(sources, property, answer)
        return list(dict.fromkeys(self._facts.objects(one, property)[0] for one in leading))

    def _order_sources(
        self, task: HopTask, chosen: Hop, sources: Sequence[str], property: str, answer: str
    ) -> list[str]:
        """What else stands in the list that a hop chose from, in the order in which it is taken for the chosen work.

        What was offered beside that work leads to what is offered here. Of what two made together some lies beyond,
        and some does not: else the earliest of four writers' films is the first without a look at who made it. Empty
        where one of these is missing.
        """
        used, offered = task.list_used(), {one.id for one in chosen.distractors}
        found = {str(one) for one in task.answers.values()}
        assert isinstance(chosen.derivation, Compute)
        form = read_computation(chosen.derivation)
        if isinstance(form, NextOfList):  # whoever does not go on answers of what the two made last
            last = str(task.answers[int(form.reference.removeprefix("hop"))])
            ordered = [last, *(one for one in self._lists.order(chosen, sources, used) if one != last)]
        else:
            ordered = sorted(self._lists.order(chosen, sources, used), key=lambda one: one not in offered)
        named = used.difference(found)
        told = {value for one in named for value in self._facts.objects(one, property)}
        ordered = [one for one in ordered if told.isdisjoint(self._facts.objects(one, property))]
        # Whoever scored the film that is named is no likely answer, but stands in for a third; its novelist is none.
        fits = not self._table.entity[property].told_role
        own = list(self._list_sources(sorted(named), property, answer)) if fits else []
        if not isinstance(form, Extreme) or form.members is None or not form.members.credit:
            return [*ordered, *own]
        beyond = [one for one in ordered if self._lists.is_beyond(chosen, one)]
        within = [one for one in ordered if one not in beyond]
        leading = [next(iter(self._list_sources(side, property, answer)), "") for side in (beyond, within)]
        rest = [one for one in ordered if one not in leading]
        return [*leading, *rest, *own] if all(leading) else []

    def _list_sources(self, sources: Sequence[str], property: str, answer: str) -> Iterator[str]:
        """Those of which one alone has a property, and another than the answer."""
        return (one for one in sources if len(held := self._facts.objects(one, property)) == 1 and held[0] != answer)

    def _make_entities(
        self, task: HopTask, answer: str, proposed: Sequence[str]
    ) -> tuple[Distractor, ...] | OptionShortage:
        hop, rng, derivation = task.hop, task.rng, task.hop.derivation
        if (beside := self._series.list_beside(hop, task.earlier)) is not None:
            return self._offer_beside(task, answer, beside)
        compared = ""
        fixed = 0
        choice: tuple[str, ...] = ()
        slips: list[str] = []
        outsiders: list[str] = []
        if isinstance(derivation, Compute):
            others = list_compared(derivation, task.answers, self._facts)
            choice = tuple(one for one in others if self._suitability.may_replace(one, answer))
            if len(choice) < FEWEST_COMPARED - 1 and task.asked:
                return OptionShortage("comparison", f"a choice of {1 + len(choice)}, not of four or more")
            outsiders = self._turns.list_outsiders(task, hop) if task.asked else []
            if task.asked and is_hidden_choice(derivation) and not outsiders:
                return OptionShortage("form", "nothing that would beat the answer can be offered beside it")
            if 1 < len(others) < FEWEST_COMPARED:
                if len(choice) < len(others) - 1:
                    return OptionShortage("comparison", "what is compared with the answer cannot be told from it")
                # Who is not compared is nobody's answer: of two, the other one is the only wrong option.
                return tuple(Distractor(text=self._siblings.card(one).label, kind="operand", id=one) for one in choice)
            compared = find_compared(derivation)
            fixed = min(1, len(outsiders))
            if self._lists.is_of_list(hop.derivation):
                slips = self._lists.list_unnamed(hop, others, task.list_used())
                if task.hides_following(answer):
                    choice = tuple(one for one in choice if one != task.following)
                first = self._lists.list_beside_theirs(hop, task.earlier, others)
                choice = self._lists.order(hop, choice, task.list_used(), first)
                if task.asked and not self._lists.is_between(hop, choice[: FEWEST_COMPARED - 1]):
                    return OptionShortage("comparison", "nothing on either side of the answer can be offered")
                choice = choice[:_NEXT_IN_LIST]
                if len(choice) < FEWEST_COMPARED - 1:
                    return OptionShortage("conditions", f"{len(choice)} others of its list came out near it, not three")
                # So many of what the two made and of what lies beyond, or earlier and later ones, as were drawn.
                fixed = min(3, len(choice))
            if outsiders and choice:
                choice = self._order_by_value(choice, compared, answer)
                fixed = 2  # the runner-up is who or what is taken for the answer
        losers: list[str] = []
        listed = False
        chosen = task.find_source()
        # Laureates come from everywhere, and whoever is a year off arrives at the next of them.
        worldwide = chosen is not None and bool(self._suitability.find_timeline(chosen.derivation))
        sources: list[str] | None = None
        if isinstance(derivation, Lookup):
            turns = self._turns
            sources = turns.list_others(chosen, task) if task.asked and worldwide else turns.list_losers(task)
        if isinstance(derivation, Lookup) and sources is not None:
            listed = chosen is not None and (worldwide or self._lists.is_of_list(chosen.derivation))
            if chosen is not None and listed and not worldwide:
                sources = self._order_sources(task, chosen, sources, derivation.property, answer)
                if not sources:
                    return OptionShortage("losers", "what two made and what lies beyond do not both lead to others")
            losers = self._list_held(sources, derivation.property, answer)
            # Several works of one list often had the same librettist.
            fixed = min(3, max(1, len(losers))) if listed else count_needed(sources)
            if listed and task.asked and not worldwide and len(losers) < FEWEST_COMPARED - 1:
                return OptionShortage("losers", "fewer than three of the rest of the list lead to another answer")
            if chosen is not None and is_hidden_choice(chosen.derivation) and not listed:
                winners = self._turns.list_outsiders(task, chosen)
                outsiders = [one for winner in winners for one in self._facts.objects(winner, derivation.property)[:1]]
                if not outsiders:
                    return OptionShortage("form", "nothing that would beat the answer can be offered beside it")
            if len(losers) < fixed:
                return OptionShortage("losers", f"{len(losers)} of those that were not chosen lead to another answer")
        asked_for = pad(f"{hop.question} {task.asked}")
        conditions = read_open_conditions(hop, task.earlier, task.answers, self._facts, final=bool(task.asked))
        rejected = task.list_used() - set(choice)
        if isinstance(derivation, Lookup):
            subject = resolve_given(derivation.subject, task.answers)
            rejected |= set(self._facts.objects(subject, derivation.property))
            confused = {one for other in CONFUSED_ROLES.get(derivation.property, ()) for one in
                        self._facts.objects(subject, other)}  # fmt: skip
            # Whatever else the graph ties to the subject may, in reality, be true of it as well.
            rejected |= {object for _, object in self._graph.out_edges(subject)} - confused
        # Whoever did the same for the work beside the right one needs no other likeness to be taken for the answer.
        led_to = frozenset(losers if listed and self._siblings.kind(answer) == "person" and not worldwide else ())
        noun = self._siblings.noun(answer)
        stated = noun if noun and f" {fold(noun)} " in asked_for else ""
        suitability = self._suitability
        found: dict[str, OptionCandidate] = {}
        strange: dict[str, float] = {}
        names: set[str] = set()
        streams = self._list_streams(task, answer, choice, proposed)
        if len(sources or ()) >= FEWEST_COMPARED - 1:
            # What else might have been chosen leads to answers enough, and nothing else is as near.
            streams, fixed = iter([("near_miss", losers, MOST_CANDIDATES)]), fixed if listed else 0
        if outsiders:
            streams, fixed = itertools.chain([("near_miss", outsiders, 1)], streams), 1
        elif losers:
            streams = itertools.chain([("near_miss", losers, 3)], streams)
        for kind, entities, most in streams:
            for one in entities:
                if most == 0 or len(found) == _MOST_GATHERED:
                    break
                name = self._siblings.card(one).folded
                shown = one in rejected or f" {name} " in asked_for
                if one in found or one == answer or name in names or (shown and one not in choice):
                    continue
                if not suitability.may_replace(one, answer):
                    continue
                if not suitability.is_wrong(one, derivation, task.answers, compared):
                    continue
                if one not in choice and not (
                    suitability.could_play(one, answer, derivation)
                    if one in led_to
                    else suitability.suits(
                        one, answer, stated, derivation, task.answers, final=bool(task.asked), worldwide=worldwide
                    )
                ):
                    continue
                if not all(is_met(condition, one, self._facts) for condition in conditions):
                    continue
                if not self._turns.leads_on(task, one):
                    continue
                names.add(name)
                bonus = _DRAWN * (kind == "sibling" and one not in proposed)
                known = one in choice or one in led_to
                strange[one] = 0.0 if known else self._measure_strangeness(task, one, answer, kind)
                bonus -= _STRANGE * strange[one]
                found[one] = self._weigh(task, one, answer, kind, compared, asked_for, bonus=bonus)
                most -= 1
        if outsiders and next(iter(found), "") not in outsiders:
            return OptionShortage("form", "nothing that would beat the answer can be offered beside it")
        if losers and sum(one in found for one in losers) < (1 if listed else fixed):
            return OptionShortage("losers", "what was not chosen on the way gives too few answers that can be offered")
        first = [*found][:fixed]
        nearest = list(dict.fromkeys([*first, *sorted(found, key=strange.__getitem__)]))
        if isinstance(derivation, Lookup) and not task.asked:
            # Who did the same for a film of that director, or of that crew, is nearer than anybody else of the time.
            linked = self._credits.find_linked(resolve_given(derivation.subject, task.answers), derivation.property)
            kindred = [one for one in nearest if one in linked and strange[one] <= _NATIVE]
            if len(kindred) >= FEWEST_COMPARED - 1:
                nearest = [*first, *(one for one in kindred if one not in first)]
        if not task.asked and self._siblings.kind(answer) == "person":
            # Whoever everybody knows is dropped on sight beside somebody whom few know.
            most = _MOST_FAMOUS * max(self._graph.degree(answer), _KNOWN)
            likely = [one for one in nearest if one in first or self._graph.degree(one) <= most]
            nearest = likely if len(likely) >= FEWEST_COMPARED - 1 else nearest
            if isinstance(derivation, Lookup):
                work, part = resolve_given(derivation.subject, task.answers), derivation.property
                peers = [one for one in nearest if one in first or self._credits.are_peers(one, answer, work, part)]
                native = sum(strange[one] <= _NATIVE for one in peers)
                nearest = peers if native >= FEWEST_COMPARED - 1 else nearest
        nearest = self._drop_strangers(nearest, [found[one].kind == "sibling" for one in nearest], strange)
        own = self._weigh(task, answer, answer, "sibling", compared, asked_for)
        made = self._choose_entities(own, [found[one] for one in nearest], fixed, rng)
        if isinstance(made, OptionShortage):
            return made
        if slips and not any(one.id in slips for one in made):
            return OptionShortage("losers", "nothing else that the two made can be offered")
        if not task.asked:
            strangers = sum(strange[one.id or ""] >= _FOREIGN for one in made)
            if strangers > _MOST_STRANGERS:
                return OptionShortage("conditions", f"{strangers} of its rivals do not belong to its country and time")
        return made

    def _offer_beside(self, task: HopTask, answer: str, beside: Beside) -> tuple[Distractor, ...] | OptionShortage:
        """Three of what stands beside an answer in a series, or is known of what does; not what the question names."""
        said = pad(f"{task.hop.question} {task.asked}")
        kind, noun = self._siblings.kind, self._siblings.noun(answer)
        stated = noun if " " in noun and f" {fold(noun)} " in said else ""

        def suits(one: str) -> bool:
            label = fold(self._siblings.card(one).label)
            same = kind(one) == kind(answer) and self._siblings.is_distinct(one, answer)
            if stated and self._siblings.noun(one) != stated:  # asked for a city in New York, nobody takes Denver
                return False
            if kind(answer) == "place":  # asked for a prefecture, nobody takes a city
                same = same and self._siblings.sort(one) == self._siblings.sort(answer)
            return same and f" {label} " not in said

        if self._series.takes_step(task.hop, task.earlier) and not suits(beside.short):
            return OptionShortage("series", "the other end of it is nothing that can be offered")
        chosen = [one for one in (beside.short, *beside.others) if one and suits(one)][: FEWEST_COMPARED - 1]
        if len(chosen) < FEWEST_COMPARED - 1:
            needed = f"of {FEWEST_COMPARED - 1} neighbours in its series that are needed"
            return OptionShortage("series", f"{needed}, {len(chosen)} can be offered")
        return join_three(Distractor(text=self._siblings.card(one).label, kind="near_miss", id=one) for one in chosen)

    def _drop_strangers(
        self, ordered: Sequence[str], merely: Sequence[bool], strange: Mapping[str, float]
    ) -> list[str]:
        """The candidates without those that are stranger than needed to have a few to choose from.

        `ordered`: the least strange first; `merely`: which of them only a like sort speaks for.
        """
        kept: list[str] = []
        slips = 0
        for one, sibling in zip(ordered, merely, strict=True):
            enough = len(kept) >= _FEWEST_NEAR and slips >= 3 - _MOST_SIBLINGS
            if enough and strange[one] > max(_NATIVE, strange[kept[-1]]):
                break
            kept.append(one)
            slips += not sibling
        return kept

    def _measure_strangeness(self, task: HopTask, candidate: str, answer: str, kind: DistractorKind) -> float:
        """Points for all by which a well-read person sees that a candidate does not belong to the answer's world.

        To its country, calling and decades come the years in which both held an office or had such works, and what the
        next hop reads: a director born in another century leads to years that fit nothing else.
        """
        derivation = task.hop.derivation
        made = isinstance(derivation, Lookup) and derivation.property in self._table.roles.makers
        work = resolve_given(derivation.subject, task.answers) if isinstance(derivation, Lookup) and made else ""
        points = self._world.measure_foreignness(candidate, answer, work)
        if timeline := self._suitability.find_timeline(derivation):
            apart = self._suitability.count_years_held_apart(candidate, answer, timeline)
            points = points / 2 + max(0, apart - _NEAR_TERMS) / _NEAR_TERMS
        elif isinstance(derivation, Lookup) and self._siblings.kind(answer) == "person":
            subject = resolve_given(derivation.subject, task.answers)
            subjects = self._facts.subjects(derivation.property, candidate)[:MOST_HOLDERS]
            years = [self._siblings.years_apart(subject, one) for one in subjects]
            points += 2 * count_quarters(min((one for one in years if one is not None), default=0), _ACTIVE)
            if not subjects:
                points += _UNTRIED
            elif self._world.differ_in_calling(candidate, answer):
                points -= OTHER_CALLING / 2  # some who direct are known as writers, and yet have directed
            points -= _LINKED * (candidate in self._credits.find_linked(subject, derivation.property))
        if task.asked:
            return max(0.0, points - _LED_TO * (kind == "near_miss"))
        given, right = self._turns.read_on(task, candidate), task.reader.value if task.reader is not None else None
        if isinstance(given, dt.date) and isinstance(right, dt.date):
            points += min(_MOST_OFF, count_quarters(abs(given.year - right.year), MOST_YEARS_OFF))
        return points

    def _order_by_value(self, entities: Sequence[str], property: str, answer: str) -> tuple[str, ...]:
        """Entities, those first whose value of a property comes next to the answer's."""
        (own,) = self._facts.scalars(answer, property)[:1] or (0,)
        apart = {one: abs(as_float((self._facts.scalars(one, property) or (own,))[0]) - as_float(own))
                 for one in entities}  # fmt: skip
        return tuple(sorted(entities, key=lambda one: (apart[one], one)))

    def _choose_entities(
        self, own: OptionCandidate, candidates: list[OptionCandidate], fixed: int, rng: random.Random
    ) -> tuple[Distractor, ...] | OptionShortage:
        if len(candidates) < 3:
            needed = "of 3 wrong options that are needed"
            return OptionShortage("conditions", f"{needed}, {len(candidates)} meet what the question states")
        if sum(one.kind != "sibling" for one in candidates) < 3 - _MOST_SIBLINGS:
            return OptionShortage("slips", "fewer than two of its rivals are what a slip yields")
        weights = (*_WEIGHTS[: len(own.traits)], *_LIKENESS_WEIGHTS)
        likenesses = (self._compare_names, self._compare_facts, self._like_by_era)
        if own.traits[_SHARED] and not fixed:
            candidates.sort(key=lambda one: not one.traits[_SHARED])  # one that shares a word, too, is always taken
            fixed = 1
        places = choose_three(
            own, candidates, likenesses, rng, fixed=fixed, weights=weights, most_siblings=_MOST_SIBLINGS
        )
        if places is None:
            return OptionShortage("slips", "fewer than two of its rivals are what a slip yields")
        chosen = [candidates[place] for place in places]
        if own.traits[_SHARED] and not any(one.traits[_SHARED] for one in chosen):
            return OptionShortage("form", "a word of the question stands in the right option only")
        return join_three(Distractor(text=one.text, kind=one.kind, id=one.key) for one in chosen)

    def _list_streams(
        self, task: HopTask, answer: str, choice: Sequence[str], proposed: Sequence[str]
    ) -> Iterator[tuple[DistractorKind, Iterable[str], int]]:
        """Where wrong options come from, the best first: a kind, entities, and how many of them at most."""
        hop, rng, derivation = task.hop, task.rng, task.hop.derivation
        yield "operand", choice, MOST_CANDIDATES
        if len(choice) >= FEWEST_COMPARED - 1:
            return
        wrong = [one for one in self._turns.propagate_wrong_answers(task) if isinstance(one, str)]
        yield "near_miss", wrong, 4
        if isinstance(derivation, Compute):
            slips = list_slips(derivation, task.answers, self._facts, hop.evidence.claims, task.on_the_way)
            yield "slip", [one for one, kind in slips if isinstance(one, str)], 2
            # What the earlier hops offered is of the compared things' own role and time; outsiders are not.
            offered = task.list_offered()
            yield "near_miss", offered, 6
            if len(offered) >= _OFFERED:
                return
            if compared := find_compared(derivation):
                yield "neighbour", self._turns.find_similar(answer, compared), 4
        rivals = self._siblings.rank(answer, self._turns.list_rivals(hop, task), rng)
        yield "near_miss", rivals, 8
        if task.asked and isinstance(derivation, Lookup) and len({*wrong, *rivals} - {answer}) >= _WELL_SUPPLIED:
            return  # what a wrong turn leads to is nearer than anything merely of the same sort
        if isinstance(derivation, Lookup):
            subject = resolve_given(derivation.subject, task.answers)
            confused = CONFUSED_ROLES.get(derivation.property, ())
            yield "slip", [one for other in confused for one in self._facts.objects(subject, other)], 2
            yield "sibling", proposed, len(proposed)
            if self._siblings.kind(answer) == "country":
                yield "neighbour", self._siblings.beside(answer, rng), 5
                return  # one from the other end of the world is dropped on sight
            yield "neighbour", self._credits.find_linked(subject, derivation.property), 12
            similar = self._siblings.near(subject, [(derivation.property, "subject")], rng)
            held = [one for other in similar for one in self._facts.objects(other, derivation.property)[:1]]
            yield "neighbour", self._siblings.rank(answer, list(dict.fromkeys(held)), rng), 8
            sort = self._siblings.sort(subject)
            fellows = self._world.list_fellows(answer, derivation.property)
            # Of so many people born in a city, those that come first need not include one of the subject's calling.
            everywhere = self._siblings.kind(answer) == "place"
            able = (one for one in fellows if everywhere or self._holds_for_sort(one, derivation.property, sort))
            yield "neighbour", able, 12
            yield "neighbour", self._list_next(answer, self._world.list_colleagues(answer)), 6
            drawn = self._siblings.draw(answer, derivation.property, "object", rng, _DRAWN_WIDELY)
            drawn.sort(key=lambda one: self._world.measure_foreignness(one, answer))
            alike = [one for one in drawn if self._holds_for_sort(one, derivation.property, sort)]
            yield "neighbour", alike, _KEPT_OF_DRAWN
            yield "sibling", drawn, _KEPT_OF_DRAWN
            pools: list[tuple[str, Side]] = [(derivation.property, "object")]
        elif isinstance(derivation, ReverseLookup):
            yield "sibling", proposed, len(proposed)
            yield "neighbour", self._list_beside(derivation, answer), 3
            pools = [(derivation.property, "literal" if derivation.property in self._table.literal else "subject")]
        else:
            compared = find_compared(derivation)
            pools = [(compared, "literal")] if compared else []
        siblings = self._siblings.near(answer, pools, rng)
        yield "neighbour", self._list_next(answer, siblings), 4
        yield "sibling", self._spread(answer, siblings), MOST_CANDIDATES

    def _holds_for_sort(self, entity: str, property: str, sort: str) -> bool:
        """Whether an entity is the value of a property of anything of a sort."""
        subjects = self._facts.subjects(property, entity)
        return any(self._siblings.sort(one) == sort for one in subjects[:MOST_HOLDERS])

    def _list_beside(self, derivation: ReverseLookup, answer: str) -> list[str]:
        """Entities whose dates or numbers come next to those that the look-up asks for."""
        found: list[str] = []
        for condition in list_conditions(derivation):
            if condition.property in self._table.literal:
                for held in self._facts.scalars(answer, condition.property)[:1]:
                    found += self._values.holders(condition.property, held)
        return found

    def _spread(self, answer: str, siblings: Sequence[str]) -> list[str]:
        """The likeliest siblings, then some with longer and shorter, better and less known, earlier and later names.

        So that whatever the answer looks like, there are threes among which it is not the longest or the best known.
        """
        spread = dict.fromkeys(siblings[:2])
        own = self._look(answer)
        looks = [(one, self._look(one)) for one in siblings]
        for place in range(len(own)):
            for above in (True, False):
                beyond = (
                    one
                    for one, look in looks
                    if one not in spread and look[place] != own[place] and (look[place] > own[place]) == above  # type: ignore[operator]
                )
                spread |= dict.fromkeys(itertools.islice(beyond, 1))
        return list(spread | dict.fromkeys(siblings))

    def _look(self, entity: str) -> tuple[float | str, ...]:
        """What a guesser may go by: capitals and length of the name, how well known it is, its place by alphabet."""
        card = self._siblings.card(entity)
        return card.capitals, len(card.label), card.degree, card.folded

    def _list_next(self, answer: str, siblings: Sequence[str]) -> list[str]:
        """Siblings next to the answer in time (contemporaries, nearest first) or in place (common border, district)."""
        apart = [(self._siblings.years_apart(answer, one), one) for one in siblings]
        found = [one for years, one in sorted((y, one) for y, one in apart if y is not None and y <= BESIDE_IN_TIME)]
        around = self._around(answer)
        for one in siblings if around else ():
            places = self._around(one)
            if one in around or answer in places or around & places:
                found.append(one)
        return list(dict.fromkeys(found))

    def _list_around(self, entity: str) -> frozenset[str]:
        """What an entity borders on or lies in."""
        return frozenset(place for property, place in self._graph.out_edges(entity) if property in BESIDE_IN_PLACE)

    def _weigh(
        self,
        task: HopTask,
        entity: str,
        answer: str,
        kind: DistractorKind,
        compared: str,
        asked_for: str,
        bonus: float = 0.0,
    ) -> OptionCandidate:
        """An entity as an option: how near to the answer, how long its name, how well known, how it compares."""
        card = self._siblings.card(entity)
        words = [] if compared else card.folded.split()  # a comparison names its candidates
        shared = sum(f" {word} " in asked_for for word in words if len(word) > 3)
        # What it leads to: the options of the next hop have the right one in their middle no more often than here.
        given = self._turns.read_on(task, entity)
        led_to = 0.0 if given is None or isinstance(given, str) else as_float(given)
        traits = [shared, *self._look(entity), led_to]
        if compared:
            (value,) = self._facts.scalars(entity, compared)
            traits.append(as_float(value))
        closeness = (
            0.0 if entity == answer else self._siblings.closeness(answer, entity) + 1.5 * task.rng.random() + bonus
        )
        return OptionCandidate(card.label, entity, kind, closeness, tuple(traits))

    def _like_by_era(self, one: str, other: str) -> float:
        """Nearness in time: options of neighbouring decades have one in their middle, which shall be any of them."""
        return -float((self._siblings.years_apart(one, other) or 0) ** 2)

    def _like_by_name(self, one: str, other: str) -> float:
        return self._likeness(self._siblings.card(one).label, self._siblings.card(other).label)
