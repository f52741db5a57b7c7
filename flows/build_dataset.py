"""The parent flow: a whole run, from raw files to a release."""

from collections.abc import Mapping
from typing import Any, cast

from prefect import flow

from flows.budget import work_within_budget
from flows.delegation import delegate_to_deployment
from flows.filter import run_filter
from flows.flow_options import BUILD, name_day, read_given, resume_own_run, with_flow_options
from flows.release import run_release
from flows.retrieve import run_retrieve
from flows.review import run_review
from flows.rewrite import run_rewrite
from flows.synthesize import run_synthesize
from hopwright.runs import RunFolder
from hopwright.runs.completion import find_completed, record_completion
from hopwright.settings import (
    BuildParameters,
    FilterRun,
    ReleaseRun,
    RetrieveRun,
    ReviewRun,
    RewriteRun,
    SynthesizeRun,
    identify,
    narrow,
)
from tasks.engine import make_task_runner, open_run
from tasks.preflight import check_build
from tasks.reports import Funnel, list_links
from tasks.summary import publish_summary, summarise

DEFAULT = cast("BuildParameters", {})
"""Nothing chosen: the form then shows what the schema says, and leaves the stages' groups folded."""
_ABOUT = "Raw files → a dataset release, every stage a subflow; started again, it continues where it stopped."


@flow(
    name="build-dataset",
    description=_ABOUT,
    task_runner=make_task_runner(),
    **with_flow_options(BUILD),
)
def build_dataset(parameters: BuildParameters = DEFAULT) -> dict[str, Any]:
    """Run every stage in order; returns the figures that are printed at the end."""
    wanted = name_day(read_given(parameters, BuildParameters))
    return work_within_budget(resume_own_run(wanted), _build)


def _build(parameters: BuildParameters) -> dict[str, Any]:
    identity = identify(parameters)
    with open_run(parameters) as engine:
        run = engine.run
        if not parameters.fresh:
            run.refuse_other_parameters(identity)
            if (completed := find_completed(run, identity, parameters.list_sources())) is not None:
                publish_summary(completed.summary, list_links(run))
                return completed.summary
        check_build(run, parameters)
        run.begin(identity, fresh=parameters.fresh)
        stages = parameters.model_copy(update={"fresh": False})
        funnel = Funnel(run)
        run_retrieve(narrow(stages, RetrieveRun))
        run_synthesize(narrow(stages, SynthesizeRun))
        funnel.show()
        if not parameters.vllm.deployment:
            run_filter(narrow(stages, FilterRun))
            return _finish(run, stages, funnel, identity)
    # The run is let go of meanwhile: the flow on the other work pool holds it.
    delegate_to_deployment(narrow(stages, FilterRun), parameters.vllm.deployment)
    with open_run(parameters) as engine:
        return _finish(engine.run, stages, funnel, identity)


def _finish(run: RunFolder, stages: BuildParameters, funnel: Funnel, identity: Mapping[str, Any]) -> dict[str, Any]:
    """The stages after the filter, and the figures of the whole run."""
    funnel.show()
    run_rewrite(narrow(stages, RewriteRun))
    funnel.show()
    run_review(narrow(stages, ReviewRun))
    run_release(narrow(stages, ReleaseRun))
    summary = summarise(run)
    run.record_summary(summary)
    funnel.show(picture=True)
    publish_summary(summary, list_links(run))
    record_completion(run, identity, stages.list_sources())
    return summary
