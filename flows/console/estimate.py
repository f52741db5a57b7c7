"""`--dry-run`: what would be asked of language models, and what that would cost."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flows.console.options import parameters_of, read_build_parameters
from flows.console.output import err, out, print_json, tell_progress
from hopwright.llm.config import read_settings
from hopwright.llm.estimate import ApproximateRequest, CostEstimate, estimate_run, render_estimate
from hopwright.llm.prices import read_prices
from hopwright.llm.store import consult_store
from hopwright.llm.types import Request
from hopwright.settings import EvaluateRun, FilterRun, ModelRun, RewriteRun
from hopwright.stages.models import ModelAccess


def estimate_build_run(file: Path | None, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what a whole run would ask and cost."""
    parameters = read_build_parameters(file, options, fresh=False)
    with tell_progress("rehearsing") as tell:
        from tasks.cost_estimates import estimate_build

        estimate = estimate_build(parameters, tell)
    print_estimate(estimate, parameters, as_json=as_json)


def estimate_one_stage(stage: str, run: str | None, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what one stage of a run would ask and cost."""
    estimate: CostEstimate
    parameters: FilterRun | RewriteRun
    with err.status("planning"):
        from tasks.cost_estimates import estimate_filter, estimate_rewrite

        if stage == "filter":
            parameters = parameters_of(FilterRun, run, options, fresh=False, holding="synthesize")
            estimate = estimate_filter(parameters)
        else:
            parameters = parameters_of(RewriteRun, run, options, fresh=False, holding="filter")
            estimate = estimate_rewrite(parameters)
    print_estimate(estimate, parameters, as_json=as_json)


def estimate_evaluation_run(parameters: EvaluateRun, asked: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what an evaluation would ask and cost; `asked` says about what, for `--json`."""
    with err.status("planning"):
        from tasks.cost_estimates import estimate_evaluation

        estimate = estimate_evaluation(parameters)
    print_estimate(estimate, parameters, as_json=as_json, more=asked)


def print_estimate(
    estimate: CostEstimate, parameters: ModelRun, *, as_json: bool, more: Mapping[str, Any] | None = None
) -> None:
    """Print an estimate, and whether the budget would hold it; `--json` adds `more`."""
    if not estimate.requests and not as_json:
        out.print("Nothing would be asked of a language model, and nothing paid.")
        return
    tell_estimate(estimate, parameters.models.limit(), as_json=as_json, more=more)


def estimate_asked(
    listed: Iterable[Request | ApproximateRequest], access: ModelAccess, stage: str, *, growth: float = 1.0
) -> CostEstimate:
    """What the requests of a command would cost: each that is listed, times `growth`, stands for all of them."""
    settings = read_settings(access.endpoints)
    with consult_store(access.store) as store:
        return estimate_run(listed, settings, store, read_prices(settings.prices), growth=growth, stage=stage)


def tell_estimate(
    estimate: CostEstimate, budget: float | None, *, as_json: bool, more: Mapping[str, Any] | None = None,
    remark: str = "",
) -> None:  # fmt: skip
    """Print an estimate, a remark on it, and whether the budget would hold it; `--json` adds `more`."""
    if as_json:
        print_json({**estimate.to_dict(), "budget_usd": budget, **(more or {})})
        return
    out.out(render_estimate(estimate))
    if remark:
        out.out(remark)
    if budget is not None and estimate.usd > budget:
        out.print(f"The budget of {budget:,.2f} dollars would stop it on the way.")
