"""Which language models a stage may ask, and how worker processes come by them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hopwright.errors import InputError
from hopwright.llm.config import read_settings
from hopwright.llm.session import Session, open_session
from hopwright.llm.types import parse_model
from hopwright.runs import RunFolder
from hopwright.settings import ModelParameters, ModelRun, home

STORE = "llm.sqlite"
"""The request store of a home: what was paid for once is found there by every run."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """What a shard needs to ask models; made by `grant_access`, no key in it.

    `endpoints` is the TOML file that describes them, None where there is none; `budget_usd` None sets no limit;
    `asked` names the models that may be asked, as `endpoint/model`; `batch` has what is known of a stage's requests
    handed in by the batch interfaces before its shards begin.
    """

    endpoints: Path | None
    store: Path
    run: str
    budget_usd: float | None
    asked: tuple[str, ...] = ()
    batch: bool = False


def grant_access(run: RunFolder, parameters: ModelRun, models: Iterable[str] = ()) -> ModelAccess:
    """Return the model access of a stage of this run that asks `models`, each written `endpoint/model`.

    Raises InputError for an endpoints file that cannot be used and for an unknown endpoint. The keys are asked for
    when the stage is carried out: `--dry-run` needs none.
    """
    wanted = parameters.models
    settings = read_settings(wanted.endpoints_file())
    chains = [target for model in models for target in (model, *settings.fallbacks.get(model, ()))]
    for model in chains:
        settings.endpoint(parse_model(model).provider)
    asked = tuple(dict.fromkeys(chains))
    return ModelAccess(
        wanted.endpoints_file(), run.home / STORE, name_budget_run(run), wanted.limit(), asked, wanted.batch
    )


def grant_command_access(verb: str, folder: Path, models: Sequence[str], wanted: ModelParameters) -> ModelAccess:
    """Return the model access of a command without a run that asks `models` about a folder.

    Raises InputError where no model is named, for an endpoints file that cannot be used and for an unknown endpoint.
    """
    require_named(models)
    file = wanted.endpoints_file()
    settings = read_settings(file)
    for model in models:
        settings.endpoint(parse_model(model).provider)
    return ModelAccess(
        file, home() / STORE, name_command(verb, folder.absolute(), *models), wanted.limit(), tuple(models)
    )


def require_named(models: Sequence[str]) -> None:
    """Raise InputError where the first of these models, which does the asking, is not named."""
    if not models or not models[0]:
        raise InputError("no model is named: --model endpoint/model names one (docs/models.md)")


def name_budget_run(run: RunFolder) -> str:
    """Under which name the store counts what a run spends: a run that is started over has a budget of its own."""
    begun = run.read_manifest()
    return run.name if begun is None else f"{run.name} {begun.started}"


def name_command(verb: str, *asked: object) -> str:
    """Under which name the store counts what a command without a run spends.

    One command has one budget, and remembers what it paid for in vain: the same things, asked in the same way.
    """
    said = "|".join(map(str, asked))
    return f"{verb} {hashlib.blake2b(said.encode(), digest_size=8).hexdigest()}"


def open_models(access: ModelAccess) -> Session:
    """The session of a run in this process, the same one for all its shards; it ends with the process.

    Raises InputError for an endpoints file that cannot be used.
    """
    return open_session(
        read_settings(access.endpoints), access.store, run=access.run, budget_usd=access.budget_usd
    )  # fmt: skip
