"""Votes of models: one shard asks one voter about the items that are still open; then the shards that decide."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hopwright.difficulty.ballots import Ballot, Rotations, ballots_to_table, cast, draw_rotation, read_ballots, rotate
from hopwright.difficulty.closed_book import ask_closed_book, closed_book_answers_to_table
from hopwright.difficulty.endpoints import EndpointVoter, RequestStyle, describe_server, list_request
from hopwright.difficulty.filtering import collect_votes, decide, is_open, list_open
from hopwright.difficulty.local import LocalSettings, TransformersVoter, load_voter
from hopwright.difficulty.ordering import PilotRow
from hopwright.difficulty.rule import DropRule
from hopwright.difficulty.specs import VOTERS
from hopwright.difficulty.voters import Voter, view
from hopwright.llm.session import close_session, open_session
from hopwright.llm.types import ModelRef, Request
from hopwright.records import Item, Rejected
from hopwright.records.arrow import items_to_table, read_columns, read_items, read_rejected
from hopwright.runs import ResourceUsage, ShardOutput, part_path, rejected_path
from hopwright.stages.models import ModelAccess, open_models
from hopwright.stages.resources import open_solvers


@dataclass(frozen=True, slots=True)
class SolverAccess:
    """A shortcut solver over a graph store."""

    name: str
    store: Path
    seed: int


@dataclass(frozen=True, slots=True)
class EndpointAccess:
    """A model that already answers somewhere."""

    name: str
    target: ModelRef
    models: ModelAccess
    manner: RequestStyle


@dataclass(frozen=True, slots=True)
class ServedAccess:
    """A model that the stage serves: `urls` of its copies. `session` is another one for every start of the server.

    `endpoint` stands in the keys of the request store, so it names the weights and how they are loaded.
    """

    name: str
    endpoint: str
    urls: tuple[str, ...]
    models: ModelAccess
    manner: RequestStyle
    concurrency: int = 256


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """A model that is loaded into the worker's process."""

    name: str
    weights: Path
    settings: LocalSettings


@dataclass(frozen=True, slots=True)
class AddedAccess:
    """A voter of a kind that another package added."""

    name: str
    kind: str
    model: str
    store: Path
    seed: int


_served: list[str] = []
"""Sessions of this process with servers that the stage started; those of servers that are gone are ended."""
VoterAccess = SolverAccess | EndpointAccess | ServedAccess | LocalAccess | AddedAccess


@dataclass(frozen=True, slots=True)
class VotesPart:
    """One part of items, and the voter to ask about those that are still open.

    earlier: folders of the ballots of the voters that were asked before; None leaves nothing out. pilot: folder of
    this voter's ballots from the pilot, which are taken over. only: ids of the items to ask about; None for all.
    """

    part: Path
    index: int
    voter: VoterAccess
    rule: DropRule
    seed: int
    rotations: Rotations
    earlier: tuple[Path, ...] | None = ()
    pilot: Path | None = None
    only: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class PilotVotes:
    """The pilot's items out of all parts, and the voter to ask about them."""

    parts: tuple[Path, ...]
    only: frozenset[str]
    voter: VoterAccess
    seed: int
    rotations: Rotations


@dataclass(frozen=True, slots=True)
class DecisionPart:
    """One part of items, and the folders of the ballots by voter, in the order in which items carry votes."""

    part: Path
    index: int
    ballots: tuple[tuple[str, Path], ...]
    rule: DropRule


@dataclass(frozen=True, slots=True)
class ClosedBookPart:
    """One part of items, those of them to probe, and the model to ask."""

    part: Path
    voter: VoterAccess
    only: frozenset[str]


def vote_on_open_items(spec: VotesPart) -> ShardOutput:
    """Ask one voter about one part; rows are ballots, rejected are the items that it gave no vote on."""
    items, open_items = _find_open(spec)
    known, failed = _read_pilot(spec.pilot, {item.id for item in open_items})
    fresh = [item for item in open_items if item.id not in known and item.id not in failed]
    voter = _open_voter(spec.voter)
    ballots, unanswered = cast(voter, fresh, seed=spec.seed, rotations=spec.rotations)
    return _put_out(voter, open_items, [*known.values(), *ballots], [*failed.values(), *unanswered], {
        "asked": len(fresh),
        "from_pilot": len(known) + len(failed),
        "sealed_before": len(items) - len(open_items),
    })  # fmt: skip


def vote_on_pilot(spec: PilotVotes) -> ShardOutput:
    """Ask one voter about the pilot's items."""
    items = [item for part in spec.parts for item in read_items(part, spec.only)]
    voter = _open_voter(spec.voter)
    ballots, unanswered = cast(voter, items, seed=spec.seed, rotations=spec.rotations)
    return _put_out(voter, items, ballots, unanswered, {"asked": len(items)})


def decide_part(spec: DecisionPart) -> ShardOutput:
    """Decide one part by the ballots that were cast."""
    items = read_items(spec.part)
    unanswered: dict[str, dict[str, str]] = {}
    for name, folder in spec.ballots:
        for row in read_rejected(rejected_path(folder, spec.index)):
            unanswered.setdefault(row.key, {})[name] = f"{name} ({row.check})"
    votes = collect_votes(_read_by_item(folder, spec.index) for _, folder in spec.ballots)
    reasons = {id: list(by_voter.values()) for id, by_voter in unanswered.items()}
    kept, rejected = decide(items, votes, spec.rule, reasons)
    return ShardOutput(items_to_table(kept), rejected, taken=len(items))


def probe_part(spec: ClosedBookPart) -> ShardOutput:
    """Ask one model the chosen items of one part without options, and each of their hops alone."""
    items = read_items(spec.part, spec.only)
    voter = _open_voter(spec.voter)
    assert not isinstance(spec.voter, SolverAccess)
    probes, unanswered = ask_closed_book(voter, items)  # type: ignore[arg-type]
    return ShardOutput(
        closed_book_answers_to_table(probes),
        unanswered,
        taken=len(probes) + len(unanswered),
        usage=_measure_usage(voter),
    )


def list_vote_requests(spec: VotesPart) -> Iterable[Request]:
    """The requests that `vote_on_open_items` would make, as far as the ballots so far tell."""
    if not isinstance(spec.voter, EndpointAccess):
        return
    _, open_items = _find_open(spec)
    for item in open_items:
        turns = range(4) if spec.rotations == "all" else [draw_rotation(spec.seed, spec.voter.name, item.id)]
        for turn in turns:
            yield list_request(rotate(view(item), turn), spec.voter.target, spec.voter.manner)


def pick_items(parts: Sequence[Path], count: int, seed: int, what: str) -> frozenset[str]:
    """So many items of all parts, drawn by a keyed hash of their ids."""
    ids = [id for part in parts for (id,) in read_columns(part, "id")]
    ranked = sorted(ids, key=lambda id: hashlib.blake2b(f"{seed}:{what}:{id}".encode(), digest_size=8).digest())
    return frozenset(ranked[:count])


def read_pilot_rows(folders: Sequence[Path]) -> list[PilotRow]:
    """The votes on every item of the pilot, one column for each folder of ballots."""
    columns = [{ballot.item: ballot.right for ballot in read_ballots(part_path(folder, 0))} for folder in folders]
    ids = sorted({id for column in columns for id in column})
    return [tuple(column.get(id) for column in columns) for id in ids]


def count_open(parts: Sequence[Path], folders: Sequence[Path], rule: DropRule) -> int:
    """Items whose fate the ballots in these folders leave open."""
    open_ones = 0
    for index, part in enumerate(parts):
        ballots = [_read_by_item(folder, index) for folder in folders]
        open_ones += sum(is_open(id, ballots, rule) for (id,) in read_columns(part, "id"))
    return open_ones


def _find_open(spec: VotesPart) -> tuple[list[Item], list[Item]]:
    items = read_items(spec.part)
    if spec.earlier is None:
        return items, items
    cast_so_far = [_read_by_item(folder, spec.index) for folder in spec.earlier]
    return items, list_open(items, cast_so_far, spec.rule)


def _read_pilot(folder: Path | None, ids: set[str]) -> tuple[dict[str, Ballot], dict[str, Rejected]]:
    if folder is None:
        return {}, {}
    known = {ballot.item: ballot for ballot in read_ballots(part_path(folder, 0)) if ballot.item in ids}
    failed = {row.key: row for row in read_rejected(rejected_path(folder, 0)) if row.key in ids}
    return known, failed


def _put_out(
    voter: Voter,
    items: Sequence[Item],
    ballots: Iterable[Ballot],
    unanswered: Iterable[Rejected],
    figures: dict[str, int],
) -> ShardOutput:
    """Ballots in the items' order, whoever was asked when."""
    by_item, failed = _index(ballots), {row.key: row for row in unanswered}
    rows = [by_item[item.id] for item in items if item.id in by_item]
    return ShardOutput(
        ballots_to_table(rows),
        [failed[item.id] for item in items if item.id in failed],
        taken=len(items),
        usage=_measure_usage(voter),
        figures=figures,
    )


def _read_by_item(folder: Path, index: int) -> dict[str, Ballot]:
    return _index(read_ballots(part_path(folder, index)))


def _index(ballots: Iterable[Ballot]) -> dict[str, Ballot]:
    return {ballot.item: ballot for ballot in ballots}


def _measure_usage(voter: object) -> ResourceUsage:
    if not isinstance(voter, EndpointVoter):
        return ResourceUsage()
    return ResourceUsage(
        input_tokens=voter.usage.input, output_tokens=voter.usage.output, cost_usd=round(voter.cost_usd, 9)
    )


def _open_voter(access: VoterAccess) -> Voter:
    if isinstance(access, SolverAccess):
        return next(voter for voter in open_solvers(access.store, access.seed) if voter.name == access.name)
    if isinstance(access, LocalAccess):
        return _load(access)
    if isinstance(access, AddedAccess):
        return VOTERS.find(access.kind)(access.model, access.store, access.seed)
    if isinstance(access, EndpointAccess):
        return EndpointVoter(access.name, access.target, open_models(access.models), access.manner)
    store, session_name = access.models.store, access.models.run
    for old in [one for one in _served if one != session_name]:
        close_session(store, old)
        _served.remove(old)
    (url,) = access.urls
    settings = describe_server(access.endpoint, url, access.concurrency)
    session = open_session(settings, store, run=session_name)
    if session_name not in _served:
        _served.append(session_name)
    return EndpointVoter(access.name, ModelRef(access.endpoint, access.name), session, access.manner)


def choose_copy(access: VoterAccess, index: int) -> VoterAccess:
    """A served model's copy for one shard: the copies take the shards in turn."""
    if not isinstance(access, ServedAccess) or len(access.urls) < 1:
        return access
    number = index % len(access.urls)
    models = replace(access.models, run=f"{access.models.run}-{number}") if number else access.models
    return replace(access, urls=(access.urls[number],), models=models)


@functools.lru_cache(maxsize=1)
def _load(access: LocalAccess) -> TransformersVoter:
    return load_voter(access.name, access.weights, access.settings)
