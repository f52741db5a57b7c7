"""Voters that the filter of picture questions serves itself: vLLM's own server, started for one model after another.

They are named `vllm:MODEL`, a folder or a Hugging Face id in the local cache.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hopwright.difficulty.endpoints import describe_server
from hopwright.difficulty.specs import VoterSpec, parse_voters
from hopwright.difficulty.vllm_server import Placement, ServerSettings, check_fit, place, serve
from hopwright.difficulty.weights import Weights, find_weights
from hopwright.errors import ServiceError
from hopwright.llm.session import Session
from hopwright.llm.types import Outcome, Request
from hopwright.pictures.evaluation import Complete, Tell

_PREFIX = "vllm:"
_CONCURRENCY = 64


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that can be served here; its endpoint's name in the request store tells weights and manner of serving."""

    spec: VoterSpec
    weights: Weights
    placement: Placement
    settings: ServerSettings

    @property
    def endpoint(self) -> str:
        """Other weights and another length of context make other answers."""
        return f"vllm-{self.weights.fingerprint}-{self.settings.dtype}-plain-{self.settings.context}"

    @property
    def target(self) -> str:
        """As requests name it."""
        return f"{self.endpoint}/{self.spec.name}"


def prepare_served(voters: Sequence[str], settings: ServerSettings) -> dict[str, ServedModel]:
    """Voter → what it is served from, for those among the voters that are named `vllm:MODEL`.

    Raises InputError for missing weights, a missing vLLM, too little memory and a port in use.
    """
    named = [voter for voter in voters if voter.startswith(_PREFIX)]
    if not named:
        return {}
    specs = parse_voters(named)
    # One copy of each: pictures are few next to what a GPU answers.
    placement = place(settings)
    placement = replace(placement, groups=placement.groups[:1])
    made = {
        voter: ServedModel(spec, find_weights(spec.model), placement, settings)
        for voter, spec in zip(named, specs, strict=True)
    }
    for one in made.values():
        check_fit(one.spec.name, one.weights, placement, settings)
    return made


def serve_in_turn(
    served: Mapping[str, ServedModel], store: Path, run: str, logs: Path, rest: Complete | None, tell: Tell
) -> Complete:
    """What asks requests: those to served models of a server that runs meanwhile, all others of `rest`."""
    return functools.partial(_complete, {one.endpoint: one for one in served.values()}, store, run, logs, rest, tell)


def _complete(
    models: Mapping[str, ServedModel],
    store: Path,
    run: str,
    logs: Path,
    rest: Complete | None,
    tell: Tell,
    requests: Iterable[Request],
) -> list[Outcome]:
    asked = list(requests)
    groups: dict[str, list[int]] = {}
    for number, request in enumerate(asked):
        groups.setdefault(request.provider if request.provider in models else "", []).append(number)
    outcomes: dict[int, Outcome] = {}
    for endpoint, numbers in groups.items():
        chosen = [asked[one] for one in numbers]
        if endpoint:
            answers = _ask(models[endpoint], chosen, store, run, logs, tell)
        else:
            assert rest is not None
            answers = rest(chosen)
        outcomes |= dict(zip(numbers, answers, strict=True))
    return [outcomes[number] for number in range(len(asked))]


def _ask(
    model: ServedModel, requests: Sequence[Request], store: Path, run: str, logs: Path, tell: Tell
) -> list[Outcome]:
    name = model.spec.name
    tell(f"starting vLLM with {name}")
    with serve(name, model.weights, model.placement, model.settings, logs) as (server, *_):
        tell(f"asking {name} for {len(requests):,} votes")
        settings = describe_server(model.endpoint, server.url, _CONCURRENCY)
        with Session(settings, store, run=f"{run} {server.url.rsplit(':', 1)[1]}") as session:
            outcomes = session.complete_all(requests)
        if server.lost:
            raise ServiceError(f"{name}: vLLM ended while it was asked ({server.log}); run this again: votes are kept")
        return outcomes
