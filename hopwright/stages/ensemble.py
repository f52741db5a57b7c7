"""The filter with models: one voter after the other over the items that are still open, then the decision.

    filter/plan           what the steps rest on: the items, the parameters
    filter/pilot-1-…      everybody on a few items, where the order of asking is to be found (or not at all)
    filter/votes-1-…      one step a voter: ballots, and in rejected/ what it gave no vote on
    filter/votes-5-…      replacements, over what is still open for want of votes
    filter/closed-1-…     answers without options, and hop by hop, where that is asked for
    filter                the decision
    filter/report         what the votes say

A voter that must be started (vLLM, a model in a process of its own) is started once for all its steps, and not at all
when they are finished. So a run that was killed goes on with the voter at which it stopped.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopwright.difficulty.ordering import VoterOrder, keep_order, order_by_accuracy, order_by_pilot
from hopwright.difficulty.rule import DropRule
from hopwright.errors import ServiceError
from hopwright.runs import Counts, RunFolder, Stage, StageManifest, part_path
from hopwright.settings import FilterRun
from hopwright.stages.models import ModelAccess
from hopwright.stages.plan import StageEngine, StagePlan, pick_parameters
from hopwright.stages.voters import PreparedVoter, RunningVoter, prepare_voters, seat
from hopwright.stages.votes import (
    ClosedBookPart,
    DecisionPart,
    EndpointAccess,
    PilotVotes,
    ServedAccess,
    SolverAccess,
    VoterAccess,
    VotesPart,
    choose_copy,
    count_open,
    decide_part,
    list_vote_requests,
    pick_items,
    probe_part,
    read_pilot_rows,
    vote_on_open_items,
    vote_on_pilot,
)

PLAN = "filter/plan"
_RESTARTS = 2
_log = logging.getLogger(__name__)


@dataclass
class Ensemble:
    """A filter stage under way: what it is given, and the steps that it has made so far."""

    run: RunFolder
    parameters: FilterRun
    voters: list[PreparedVoter]
    replacements: list[PreparedVoter]
    items: Stage
    rule: DropRule
    pilot: dict[str, Stage] = field(default_factory=dict)
    votes: dict[str, Stage] = field(default_factory=dict)
    closed: dict[str, Stage] = field(default_factory=dict)
    sample: frozenset[str] = frozenset()


def make_ensemble(run: RunFolder, parameters: FilterRun) -> Ensemble:
    """Look at everything that the ensemble needs. Raises InputError for what is missing, before any work is done."""
    wanted = parameters.filter
    voters, replacements = prepare_voters(run, parameters)
    rule = DropRule(len(voters), wanted.max_right, wanted.votes_required)
    return Ensemble(run, parameters, voters, replacements, Stage(run, "synthesize"), rule)


def begin_votes(ensemble: Ensemble, downstream: Sequence[str]) -> None:
    """Note what the steps rest on, or start over where that is wanted, which removes the `downstream` stages, too.

    Raises RunError for other items.
    """
    stage = Stage(ensemble.run, PLAN)
    stage.begin(
        pick_parameters(ensemble.parameters, "filter"),
        inputs=ensemble.items.output_hashes(),
        fresh=ensemble.parameters.fresh,
        downstream=downstream,
    )
    stage.finish(counts=Counts(), notes={"voters": [voter.name for voter in ensemble.voters]})


def collect_votes(engine: StageEngine, ensemble: Ensemble) -> tuple[StageManifest, VoterOrder]:
    """Every step up to the decision; returns its manifest, and the order in which the voters were asked."""
    wanted = ensemble.parameters.filter
    if wanted.closed_book:
        ensemble.sample = _pick(engine, ensemble, wanted.closed_book, "closed-book")
    order = _find_order(engine, ensemble)
    for number, index in enumerate(order.sequence, start=1):
        _ask(engine, ensemble, ensemble.voters[index], number, everyone=wanted.all_votes)
    for number, voter in enumerate(ensemble.replacements, start=len(ensemble.voters) + 1):
        folders = [stage.folder for stage in ensemble.votes.values()]
        if engine.step("count open items", count_open, ensemble.items.parts(), folders, ensemble.rule):
            _ask(engine, ensemble, voter, number, everyone=False)
    return engine.execute(_plan_decision(ensemble, order)), order


def plan_votes(ensemble: Ensemble, voter: PreparedVoter, access: VoterAccess, number: int, everyone: bool) -> StagePlan:
    """One voter's step, given how it is reached."""
    earlier = tuple(stage for stage in ensemble.votes.values())
    pilot = ensemble.pilot.get(voter.name)
    inputs = dict(ensemble.items.output_hashes())
    for stage in (*(() if everyone else earlier), *((pilot,) if pilot else ())):
        inputs |= stage.output_hashes()
    return StagePlan(
        name=f"filter/votes-{number}-{voter.spec.slug}",
        unit="votes",
        parameters=_identify(ensemble, voter),
        inputs=inputs,
        process=vote_on_open_items,
        specs=[
            VotesPart(
                part=part,
                index=index,
                voter=choose_copy(access, index),
                rule=ensemble.rule,
                seed=ensemble.parameters.seed,
                rotations=ensemble.parameters.filter.rotations,
                earlier=None if everyone else tuple(stage.folder for stage in earlier),
                pilot=pilot.folder if pilot else None,
            )
            for index, part in enumerate(ensemble.items.parts())
        ],
        notes={"voter": voter.name},
        access=_find_models(access),
        requests=list_vote_requests if isinstance(access, EndpointAccess) else None,
    )


def _ask(engine: StageEngine, ensemble: Ensemble, voter: PreparedVoter, number: int, *, everyone: bool) -> None:
    """One voter's votes and, where they are asked for, its open answers: one start for both."""
    votes = Stage(ensemble.run, f"filter/votes-{number}-{voter.spec.slug}")
    closed = Stage(ensemble.run, f"filter/closed-{number}-{voter.spec.slug}")
    probed = bool(ensemble.sample) and not isinstance(voter.access, SolverAccess)
    plan = functools.partial(_plan_steps, ensemble, voter, number, everyone, closed.name if probed else "")
    _execute_voter_plans(engine, ensemble, voter, plan)
    ensemble.votes[voter.name] = votes
    if probed:
        ensemble.closed[voter.name] = closed


def _plan_steps(
    ensemble: Ensemble, voter: PreparedVoter, number: int, everyone: bool, closed: str, access: VoterAccess
) -> list[StagePlan]:
    plans = [plan_votes(ensemble, voter, access, number, everyone)]
    return [*plans, _plan_closed_book(ensemble, voter, access, closed)] if closed else plans


def _execute_voter_plans(
    engine: StageEngine, ensemble: Ensemble, voter: PreparedVoter, plan: Callable[[VoterAccess], list[StagePlan]]
) -> None:
    """Carry out a voter's steps; a server that is lost on the way is started again, and the rest is asked of it."""
    if all(_has_all_parts(ensemble.run, one) for one in plan(voter.access)):
        for one in plan(voter.access):
            engine.execute(one)
        return
    for attempt in range(_RESTARTS + 1):
        with seat(ensemble.run, ensemble.parameters, voter) as seated:
            try:
                for one in plan(seated.access):
                    engine.execute(one)
                return
            except ServiceError as error:
                if not _may_restart(seated, attempt):
                    raise
                _log.warning("vLLM with %s ended in the middle (%s): starting it again", voter.name, error)


def _may_restart(seated: RunningVoter, attempt: int) -> bool:
    return seated.lost and attempt < _RESTARTS


def _has_all_parts(run: RunFolder, plan: StagePlan) -> bool:
    folder = Stage(run, plan.name).folder
    return all(part_path(folder, index).exists() for index in range(len(plan.specs)))


def _find_order(engine: StageEngine, ensemble: Ensemble) -> VoterOrder:
    wanted = ensemble.parameters.filter
    costs = [voter.cost for voter in ensemble.voters]
    if wanted.all_votes or not (wanted.pilot or wanted.accuracies):
        return keep_order(len(costs), costs)
    if not wanted.pilot:
        return order_by_accuracy(wanted.accuracies, costs, ensemble.rule)
    only = _pick(engine, ensemble, wanted.pilot, "pilot")
    for number, voter in enumerate(ensemble.voters, start=1):
        name = f"filter/pilot-{number}-{voter.spec.slug}"
        _execute_voter_plans(engine, ensemble, voter, functools.partial(_plan_pilot, ensemble, voter, name, only))
        ensemble.pilot[voter.name] = Stage(ensemble.run, name)
    folders = [ensemble.pilot[voter.name].folder for voter in ensemble.voters]
    return order_by_pilot(engine.step("read pilot", read_pilot_rows, folders), costs, ensemble.rule)


def _plan_pilot(
    ensemble: Ensemble, voter: PreparedVoter, name: str, only: frozenset[str], access: VoterAccess
) -> list[StagePlan]:
    parameters, items = ensemble.parameters, ensemble.items
    spec = PilotVotes(
        parts=tuple(items.parts()),
        only=only,
        voter=choose_copy(access, 0),
        seed=parameters.seed,
        rotations=parameters.filter.rotations,
    )
    return [
        StagePlan(
            name=name,
            unit="votes",
            parameters=_identify(ensemble, voter),
            inputs=items.output_hashes(),
            process=vote_on_pilot,
            specs=[spec],
            notes={"voter": voter.name},
            access=_find_models(access),
        )
    ]


def _find_models(access: VoterAccess) -> ModelAccess | None:
    return access.models if isinstance(access, (EndpointAccess, ServedAccess)) else None


def _plan_closed_book(ensemble: Ensemble, voter: PreparedVoter, access: VoterAccess, name: str) -> StagePlan:
    items = ensemble.items
    return StagePlan(
        name=name,
        unit="questions",
        parameters=_identify(ensemble, voter),
        inputs=items.output_hashes(),
        process=probe_part,
        specs=[
            ClosedBookPart(part, choose_copy(access, index), ensemble.sample)
            for index, part in enumerate(items.parts())
        ],
        notes={"voter": voter.name},
        access=_find_models(access),
    )


def _plan_decision(ensemble: Ensemble, order: VoterOrder) -> StagePlan:
    items, stages = ensemble.items, ensemble.votes
    # Items carry their votes in the listed order, whichever order was asked in.
    names = [voter.name for voter in (*ensemble.voters, *ensemble.replacements) if voter.name in stages]
    ballots = tuple((name, stages[name].folder) for name in names)
    inputs = dict(items.output_hashes())
    for stage in stages.values():
        inputs |= stage.output_hashes()
    return StagePlan(
        name="filter",
        unit="items",
        parameters=pick_parameters(ensemble.parameters, "filter"),
        inputs=inputs,
        process=decide_part,
        specs=[DecisionPart(part, index, ballots, ensemble.rule) for index, part in enumerate(items.parts())],
        notes={
            "voters": [voter.name for voter in ensemble.voters],
            "asked_in_order": [ensemble.voters[index].name for index in order.sequence],
            "replaced_by": [name for name in names if name not in {voter.name for voter in ensemble.voters}],
            "votes_asked": count_asked(ensemble),
        },
    )


def count_asked(ensemble: Ensemble) -> int:
    """Votes that were asked for, those of the pilot included."""
    steps = [*ensemble.pilot.values(), *ensemble.votes.values()]
    return sum(int(step.read().notes.get("asked", 0)) for step in steps)


def list_closed_parts(ensemble: Ensemble) -> list[Path]:
    """The parts of all closed-book steps."""
    return [part for stage in ensemble.closed.values() for part in stage.parts()]


def _identify(ensemble: Ensemble, voter: PreparedVoter) -> dict[str, Any]:
    return {
        **pick_parameters(ensemble.parameters, "filter"),
        "voter": voter.name,
        "backend": voter.spec.kind,
        "identity": voter.identity,
    }


def _pick(engine: StageEngine, ensemble: Ensemble, count: int, what: str) -> frozenset[str]:
    items = ensemble.items
    return engine.step(f"pick {what} items", pick_items, items.parts(), count, ensemble.parameters.seed, what)
