"""Language models in a run: who may ask them, how that goes, and what it would cost.

A stage that asks models

- takes `ModelRun` among its parameters, and names the model in a field of its own group, as `endpoint/model`;
- sets `access = grant_access(run, parameters, [model, …])` (`hopwright.stages.models`) on its `StagePlan` and in the
  specs of its shards; a shard then calls `open_models(spec.access)` and asks, by `complete_all` or `stream`, all its
  requests at once;
- sets `requests` on its `StagePlan`: a module-level function that lists, for one spec, the requests that the shard
  would make, as far as they are known before the first answer. Where a later request rests on an earlier answer, it
  lists an `ApproximateRequest` of about the same length. `--dry-run` counts them all; `--batch` submits the others
  beforehand.

The engine does the rest: keys, the live artifact, what was spent in the manifest.
"""

from __future__ import annotations

import contextvars
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self, cast

from prefect.blocks.system import Secret
from pydantic import BaseModel

from hopwright.errors import InputError
from hopwright.llm.batch import BatchProgress
from hopwright.llm.budget import read_spending
from hopwright.llm.config import LlmSettings, block_name, key_variable, read_key, read_settings
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prices import explain_price, read_prices
from hopwright.llm.progress import Snapshot, render_progress
from hopwright.llm.prompts import read_prompts
from hopwright.llm.reports import gather_progress, read_reports
from hopwright.llm.session import close_session
from hopwright.llm.store import Store
from hopwright.llm.types import Request, parse_model
from hopwright.runs import RunFolder, StageManifest
from hopwright.runs.manifest import read_manifest
from hopwright.settings import ModelRun, RunParameters, list_model_fields, prompts_folder
from hopwright.stages.models import STORE, ModelAccess, name_budget_run, open_models
from hopwright.stages.workers import ANSWERS, UNANSWERED
from tasks.flow_context import in_flow
from tasks.live import LiveArtifact, name_artifact, report_model_progress

_BEAT_S = 2.0
_log = logging.getLogger(__name__)
_from_blocks: set[str] = set()
"""The variables that a Secret block filled in this process; what the user set is left alone."""


def require_models(access: ModelAccess, *, blocks: bool = True) -> None:
    """Raises InputError, before anything is sent, where a key is missing, or under a budget a price.

    `blocks`: keys that the environment lacks are looked for in Prefect, whose server must be there then.
    """
    settings = read_settings(access.endpoints)
    targets = [parse_model(model) for model in access.asked]
    if blocks:
        load_keys(settings, {target.provider for target in targets})
    prices = read_prices(settings.prices)
    for target in targets:
        endpoint = settings.endpoint(target.provider)
        read_key(endpoint)
        if access.budget_usd is not None and not endpoint.free and prices.find(target.model) is None:
            raise explain_price(target)


def submit_batch_requests(
    access: ModelAccess, requests: Iterable[Request | ApproximateRequest], tell: Callable[[str], None]
) -> None:
    """Have what is known of a stage's requests answered by the batch interfaces, before its shards begin.

    The shards then find the answers in the store, and ask directly for what is left: endpoints without such an
    interface, requests that rest on an answer, rows that three batches could not answer. `tell` is told how far it is.
    """
    settings = read_settings(access.endpoints)
    batched = {endpoint.name for endpoint in settings.endpoints if endpoint.kind in ("openai", "anthropic")}
    known = [one for one in requests if not isinstance(one, ApproximateRequest) and one.provider in batched]
    if known:
        open_models(access).complete_batch(
            known, poll_s=settings.retry.batch_poll_s, report=lambda now: tell(describe_batches(now))
        )


def describe_batches(now: BatchProgress) -> str:
    """How the batches are going, in one line."""
    return (
        f"{now.open:,} batches open, {now.rows_done:,} of {now.rows_done + now.rows_waiting:,} rows done there, "
        f"{now.answered:,} answered, {now.spent_usd:,.2f} dollars spent"
    )


def prepare_models(parameters: RunParameters) -> None:
    """Fill the environment, before workers inherit it, with the keys of the endpoints that the parameters name.

    A run without models reads no file and asks Prefect nothing. Raises InputError for an endpoints file or a prompt
    that cannot be used.
    """
    if not isinstance(parameters, ModelRun):
        return
    named = set(list_named_models(parameters))
    if named:
        settings = read_settings(parameters.models.endpoints_file())
        named |= {model for text in named for model in settings.fallbacks.get(text, ())}
        # A prompt that is not fit to be used is told before anything is spent.
        read_prompts(prompts_folder())
        known = {endpoint.name for endpoint in settings.endpoints}
        load_keys(settings, known & {text.split("/", 1)[0] for text in named})


def names_model(text: str) -> bool:
    """Whether a voter or a model is named as `endpoint/model`; a solver, a folder of weights or an address is not."""
    return bool(re.match(r"[A-Za-z0-9][\w.-]*/[^/\s]", text))


def list_named_models(parameters: BaseModel) -> Iterator[str]:
    """Yield the models that the groups of parameters name as `endpoint/model`, in the fields that are for models."""
    for name in type(parameters).model_fields:
        group = getattr(parameters, name)
        if isinstance(group, BaseModel):
            for field in sorted(list_model_fields(type(group))):
                value = getattr(group, field)
                yield from filter(names_model, [value] if isinstance(value, str) else value)


def load_keys(settings: LlmSettings, endpoints: Iterable[str]) -> None:
    """Take the keys of these endpoints that the environment lacks from Prefect's Secret blocks, where there are any."""
    for name in sorted(endpoints):
        endpoint = settings.endpoint(name)
        variable = key_variable(endpoint)
        if not variable or (os.environ.get(variable) and variable not in _from_blocks):
            continue
        key = read_secret(block_name(endpoint))
        if key:
            os.environ[variable] = key
            _from_blocks.add(variable)


def read_secret(name: str) -> str:
    """The text of a Prefect Secret block; empty where there is none. Raises InputError for one that holds no text."""
    try:
        block = Secret.load(name)
    except ValueError:
        # Prefect's way of saying that there is none.
        return ""
    key = cast("Secret[str]", block).get()
    if not isinstance(key, str):
        raise InputError(f"the Prefect Secret block {name} should hold a text, not {type(key).__name__}")
    return key


def end_models(run: RunFolder) -> None:
    """End the sessions that stages of this run opened in this very process; workers end theirs themselves."""
    close_session(run.home / STORE, name_budget_run(run))


class ModelProgress:
    """The live artifact of a stage that asks models: rate, success, retries, cache hits, dollars, time left.

    A context manager around the stage's shards: `missing` of them are to be made, up to `parallel` side by side.
    """

    def __init__(self, stage: str, access: ModelAccess, *, missing: int, parallel: int) -> None:
        self._stage = stage
        self._access = access
        self._missing = max(1, missing)
        self._parallel = max(1, parallel)
        self._done = 0
        self._artifact = LiveArtifact(name_artifact(stage, "models"), f"{stage}: requests, rate, dollars")
        self._shown = ""
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self._store = Store(self._access.store)
        reports = read_reports(self._store, self._access.run)
        self._since = {worker: snapshot for worker, (_, snapshot) in reports.items()}
        self._began = time.time()
        # The thread needs the flow run's context: artifacts belong to a flow run.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._show_forever,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._try_to_show(last=True)
        self._store.close()

    def advance(self) -> None:
        """One more shard is done."""
        self._done += 1

    def take(self) -> Snapshot:
        """How the stage is doing, over all workers."""
        begun = min(self._missing, self._done + self._parallel)
        return gather_progress(
            self._store, self._access.run, since=self._since, began=self._began, limit=self._access.budget_usd,
            growth=self._missing / begun,
        )  # fmt: skip

    def _show_forever(self) -> None:
        while not self._ended.wait(_BEAT_S):
            self._try_to_show()

    def _try_to_show(self, *, last: bool = False) -> None:
        try:
            self._show(last=last)
        except Exception as error:
            # What is shown is no reason to lose what is made.
            _log.warning("the progress of %s could not be shown: %s", self._stage, error)

    def _show(self, *, last: bool = False) -> None:
        now = self.take()
        if not now.done + now.sent + now.in_flight:
            return
        report_model_progress(self._stage, describe_models(now), last=last)
        text = f"# {self._stage}: language models\n\n{render_progress(now)}\n"
        if text == self._shown or not in_flow():
            return
        self._shown = text
        self._artifact.show(text)


def describe_models(now: Snapshot) -> str:
    """How a stage's requests are going, in one line for a terminal or a log."""
    total = f" of {now.total:,}" if now.total > now.done else ""
    budget = f" of {now.budget_usd:,.2f}" if now.budget_usd is not None else ""
    failed = f", {now.failed:,} without an answer" if now.failed else ""
    return (
        f"{now.done:,}{total} requests ({now.cached:,} cached{failed}), {now.rate:,.1f}/s, "
        f"{now.spent_usd:,.2f}{budget} dollars spent, {now.projected_usd:,.2f} projected"
    )


def note_models(now: Snapshot) -> dict[str, Any]:
    """What a stage's manifest says of its requests; the dollars of the run are there too, by the ledger."""
    return {
        "requests": now.done, "from_cache": now.cached, "without_answer": now.failed, "sent": now.sent,
        "rate_limited": now.refusals, "retries": now.retries, "repairs": now.repairs, "fallbacks": now.fallbacks,
        "run_spent_usd": round(now.spent_usd, 6), "run_possibly_spent_usd": round(now.possible_usd, 6),
        "budget_usd": now.budget_usd,
    }  # fmt: skip


def sum_models(run: RunFolder) -> dict[str, Any] | None:
    """What the stages of a run asked of models and what was spent, for its summary; None where none was asked.

    A request is one answer of a model, as in the yield report: it counts with the finished shard that rests on it,
    and so once, however often the run was stopped.
    """
    stages = [
        manifest.notes
        for path in sorted([*run.path.glob("*/manifest.json"), *run.path.glob("*/*/manifest.json")])
        # A release has a manifest of its own.
        if "release" not in path.relative_to(run.path).parts
        if (manifest := read_manifest(path, StageManifest)) is not None and "models" in manifest.notes
    ]
    if not stages:
        return None
    with Store(run.home / STORE) as store:
        money = read_spending(store, name_budget_run(run))
    budgets = [notes["models"]["budget_usd"] for notes in stages]
    return {
        "requests": sum(notes.get(ANSWERS, 0) for notes in stages),
        "without_answer": sum(notes.get(UNANSWERED, 0) for notes in stages),
        "spent_usd": round(money.spent, 6), "possibly_spent_usd": round(money.possible, 6),
        "budget_usd": next((budget for budget in reversed(budgets) if budget), None),
    }  # fmt: skip
