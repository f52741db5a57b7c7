"""Voters made ready: everything that can be missing is looked for before the first vote is asked."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hopwright.difficulty.endpoints import RequestStyle
from hopwright.difficulty.local import LocalSettings
from hopwright.difficulty.machine import check_main_memory, check_memory, list_gpus
from hopwright.difficulty.specs import VOTERS, VoterSpec, parse_voters
from hopwright.difficulty.vllm_server import Placement, ServerSettings, VllmServer, check_fit, place, serve
from hopwright.difficulty.weights import Weights, find_weights, is_half_precision
from hopwright.errors import InputError
from hopwright.llm.config import read_settings
from hopwright.llm.types import parse_model
from hopwright.runs import RunFolder, Stage
from hopwright.settings import FilterParameters, FilterRun
from hopwright.stages.models import STORE, ModelAccess, grant_access, name_budget_run
from hopwright.stages.resources import find_store
from hopwright.stages.votes import AddedAccess, EndpointAccess, LocalAccess, ServedAccess, SolverAccess, VoterAccess
from hopwright.stages.workers import open_single_worker

_SOLVER_COST = 1e-3
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PreparedVoter:
    """A voter that was looked at: how it is reached, what a vote costs next to the others', what it is made of.

    identity: what of it shapes its votes, besides the parameters. placement: where a served model goes.
    """

    spec: VoterSpec
    access: VoterAccess
    cost: float
    identity: str = ""
    weights: Weights | None = None
    placement: Placement | None = None

    @property
    def name(self) -> str:
        """As votes name it."""
        return self.spec.name


def prepare_voters(run: RunFolder, parameters: FilterRun) -> tuple[list[PreparedVoter], list[PreparedVoter]]:
    """The voters and the replacements, in the listed order.

    Raises InputError, one line, for whatever would stop the stage later: an unknown voter, missing weights, a missing
    chat template, too little memory, a port in use, a missing environment, endpoint or key.
    """
    wanted = parameters.filter
    voters = parse_voters(wanted.voters)
    both = parse_voters([*wanted.voters, *wanted.replacements])
    settings = server_settings(parameters)
    placement = place(settings) if any(spec.kind == "vllm" for spec in both) else None
    ready = [_prepare(run, parameters, spec, placement, settings) for spec in both]
    if all(one.weights is not None for one in ready):
        ready = [replace(one, cost=one.weights.bytes / 1e9) for one in ready if one.weights is not None]
    return ready[: len(voters)], ready[len(voters) :]


def check_voters(run: RunFolder, parameters: FilterRun) -> None:
    """Look at all voters that the parameters name before the first stage is run. Raises as `prepare_voters` does."""
    if Stage(run, "filter").manifest_path.exists() or parameters.vllm.deployment:
        # Voted already, or voted on another machine.
        return
    wanted = parameters.filter
    specs = [spec for spec in parse_voters([*wanted.voters, *wanted.replacements]) if spec.kind != "shortcut"]
    settings = server_settings(parameters)
    placement = place(settings) if any(spec.kind == "vllm" for spec in specs) else None
    for spec in specs:
        _prepare(run, parameters, spec, placement, settings)


def server_settings(parameters: FilterRun) -> ServerSettings:
    """How vLLM is started."""
    wanted, vllm = parameters.filter, parameters.vllm
    return ServerSettings(
        python=vllm.interpreter(),
        port=vllm.port,
        gpus=vllm.gpus,
        tensor_parallel=vllm.tensor_parallel,
        memory_share=vllm.memory_share,
        context=wanted.context,
        dtype=wanted.dtype,
        quantization=wanted.quantization,
        start_s=float(vllm.start_seconds),
    )


class RunningVoter:
    """A voter in its place: `access` reaches it for as long as the block runs."""

    def __init__(self, access: VoterAccess, servers: list[VllmServer] | None = None) -> None:
        self.access = access
        self._servers = servers or []

    @property
    def lost(self) -> bool:
        """Whether a server that the stage started has ended by itself or stopped answering."""
        return any(server.lost for server in self._servers)


@contextlib.contextmanager
def seat(run: RunFolder, parameters: FilterRun, voter: PreparedVoter) -> Iterator[RunningVoter]:
    """Start what a voter needs, for the length of the block: vLLM's servers, or a worker process of its own."""
    if isinstance(voter.access, LocalAccess):
        with open_single_worker():
            yield RunningVoter(voter.access)
        return
    if not isinstance(voter.access, ServedAccess):
        yield RunningVoter(voter.access)
        return
    assert voter.weights is not None and voter.placement is not None
    logs = run.home / "logs" / run.name
    _log.info("starting vLLM with %s; its log is in %s", voter.name, logs)
    with serve(voter.name, voter.weights, voter.placement, server_settings(parameters), logs) as servers:
        urls = tuple(server.url for server in servers)
        # Another session for every start: one that gave a server up does not ask it again.
        session = f"{voter.access.models.run}-{os.getpid()}-{urls[0].rsplit(':', 1)[1]}"
        models = replace(voter.access.models, run=session)
        yield RunningVoter(replace(voter.access, urls=urls, models=models), servers)


def _prepare(
    run: RunFolder, parameters: FilterRun, spec: VoterSpec, placement: Placement | None, settings: ServerSettings
) -> PreparedVoter:
    wanted = parameters.filter
    if spec.kind == "shortcut":
        return PreparedVoter(spec, SolverAccess(spec.model, find_store(run), parameters.seed), _SOLVER_COST)
    if spec.kind == "endpoint":
        return PreparedVoter(spec, _reach_endpoint(run, parameters, spec), 1.0, identity=spec.model)
    if spec.kind in VOTERS:
        access = AddedAccess(spec.name, spec.kind, spec.model, find_store(run), parameters.seed)
        return PreparedVoter(spec, access, 1.0, identity=spec.model)
    weights = find_weights(spec.model)
    if spec.kind == "transformers":
        return _prepare_local(spec, weights, wanted)
    assert placement is not None
    check_fit(spec.name, weights, placement, settings)
    manner = RequestStyle(answering=wanted.answering, native=True, retries=wanted.retries)
    how = f"{weights.fingerprint}-{wanted.dtype}-{wanted.quantization or 'plain'}-{wanted.context}"
    models = ModelAccess(None, run.home / STORE, f"{name_budget_run(run)}/filter/{spec.slug}", None)
    served = ServedAccess(spec.name, f"vllm-{how}", (), models, manner)
    return PreparedVoter(spec, served, 1.0, identity=how, weights=weights, placement=placement)


def _reach_endpoint(run: RunFolder, parameters: FilterRun, spec: VoterSpec) -> EndpointAccess:
    models = grant_access(run, parameters, [spec.model])
    target = parse_model(spec.model)
    endpoint = read_settings(models.endpoints).endpoint(target.provider)
    manner = RequestStyle(
        answering=parameters.filter.answering,
        logprobs=endpoint.kind != "anthropic",
        native=endpoint.dialect == "vllm",
        retries=parameters.filter.retries,
    )
    return EndpointAccess(spec.name, target, models, manner)


def _prepare_local(spec: VoterSpec, weights: Weights, wanted: FilterParameters) -> PreparedVoter:
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise InputError(
                f"voter {spec.name}: {package} is not installed here; `pip install '.[local]'` installs it"
            )
    gpus = [] if wanted.device == "cpu" else list_gpus()
    if wanted.device == "cuda" and not gpus:
        raise InputError(f"voter {spec.name}: device is cuda, and this machine shows no GPU; set it to auto or cpu")
    if gpus:
        check_memory(spec.name, weights.bytes, gpus[:1], gpus[0].free / gpus[0].total)
    else:
        widened = wanted.dtype in ("auto", "float32") and is_half_precision(weights.folder)
        check_main_memory(spec.name, weights.bytes * (2 if widened else 1))
    settings = LocalSettings(
        device=wanted.device, dtype=wanted.dtype, context=wanted.context, answering=wanted.answering
    )
    return PreparedVoter(
        spec, LocalAccess(spec.name, Path(weights.folder), settings), 1.0, identity=weights.fingerprint, weights=weights
    )
