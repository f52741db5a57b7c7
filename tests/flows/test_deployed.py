"""What a flow does that was started from a deployment: parameters of its run, days, retries, people who are told."""

from __future__ import annotations

import datetime as dt
import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from prefect.states import Crashed

import flows.budget
import flows.delegation
import flows.flow_options
import flows.hooks
from flows.budget import BUDGET_REACHED, work_within_budget
from flows.delegation import delegate_to_deployment
from flows.flow_options import inherit_run_parameters, name_day, read_given, resume_own_run
from flows.hooks import notify_failure, send, write_notice
from hopwright.errors import BudgetError, InputError, ServiceError
from hopwright.runs import RunFolder, Stage
from hopwright.settings import BuildParameters, FilterRun, ReleaseRun, RewriteRun, identify, load_parameters


def flow_run(**fields: Any) -> Any:
    started = dt.datetime(2026, 11, 21, 2, 0, tzinfo=dt.UTC)
    values = {"id": uuid4(), "name": "build-r", "run_count": 1, "start_time": started, "parent_task_run_id": None}
    return SimpleNamespace(**{**values, "parameters": {}, "deployment_id": uuid4(), **fields})


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As if a deployment had started the flow that goes on."""
    here = flow_run()
    monkeypatch.setattr(flows.flow_options, "find_flow_run", lambda **_: here)
    return here


def begin(home: Path, **values: Any) -> RunFolder:
    run = RunFolder(home, "r")
    run.begin(identify(load_parameters({"run": "r", **values}, BuildParameters)))
    return run


def test_what_a_form_left_at_its_default_is_taken_from_the_run(home: Path, deployed: Any) -> None:
    del deployed
    begin(home, seed=7, rewrite={"distractor_passages": 3}, release={"name": "mine", "version": "1.0.0"})
    form = RewriteRun(run="r").model_dump(mode="json")
    form["rewrite"]["tries"] = 4
    taken = inherit_run_parameters(load_parameters(form, RewriteRun))
    assert (taken.seed, taken.rewrite.distractor_passages, taken.rewrite.tries) == (7, 3, 4)
    chained = inherit_run_parameters(
        load_parameters({"run": "r", "fresh": True, "release": {"reviewed": True}}, ReleaseRun)
    )
    assert (chained.fresh, chained.release.name, chained.release.reviewed) == (True, "mine", True)


def test_on_the_command_line_everything_is_as_it_was_given(home: Path) -> None:
    begin(home, seed=7)
    assert inherit_run_parameters(RewriteRun(run="r")).seed == 0


def test_parameters_are_read_from_a_model_and_from_json_and_refused_in_one_line() -> None:
    given = FilterRun(run="r")
    assert read_given(given, FilterRun) is given
    assert read_given({"run": "r"}, FilterRun) == given
    with pytest.raises(InputError, match=r"^filter\.max_right: should be less than the number of voters, 4, not 4$"):
        read_given({"filter": {"max_right": 4}}, FilterRun)
    with pytest.raises(InputError, match="there is no such parameter"):
        read_given("nonsense", FilterRun)


def test_a_dated_run_bears_the_day_for_which_it_was_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = load_parameters({"run": "nightly", "dated": True}, BuildParameters)
    late = dt.datetime(2026, 11, 22, 9, 0, tzinfo=dt.UTC)
    planned = dt.datetime(2026, 11, 21, 2, 0, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    states = [
        SimpleNamespace(timestamp=late, type=flows.flow_options.StateType.RUNNING, state_details=None),
        SimpleNamespace(
            timestamp=planned, type=flows.flow_options.StateType.SCHEDULED,
            state_details=SimpleNamespace(scheduled_time=planned),
        ),
    ]  # fmt: skip
    client = SimpleNamespace(read_flow_run_states=lambda _: states)
    monkeypatch.setattr(flows.flow_options, "get_client", lambda **_: client)
    monkeypatch.setattr(flows.flow_options.runtime, "get_id", lambda: str(uuid4()))
    dated = name_day(plan)
    assert dated.run == "nightly-2026-11-21"
    assert name_day(dated) == dated
    assert name_day(BuildParameters(run="plain")).run == "plain"


def test_a_retry_continues_what_its_flow_run_began_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin(home)
    wanted = load_parameters({"run": "r", "fresh": True}, BuildParameters)
    began = dt.datetime.fromisoformat(str(run.read_manifest().started))  # type: ignore[union-attr]
    for count, started, fresh in (
        (1, began - dt.timedelta(seconds=5), True),
        (2, began - dt.timedelta(seconds=5), False),
        (2, began + dt.timedelta(hours=1), True),
    ):
        here = flow_run(run_count=count, start_time=started)
        monkeypatch.setattr(flows.flow_options, "find_flow_run", lambda here=here, **_: here)
        assert resume_own_run(wanted).fresh is fresh
        # No stage was begun yet: there is nothing of its own to continue.
        assert resume_own_run(wanted, "filter").fresh is True
    with run.hold():
        Stage(run, "filter").begin({})
    monkeypatch.setattr(flows.flow_options, "find_flow_run", lambda **_: flow_run(run_count=2, start_time=began))
    assert resume_own_run(wanted, "filter/plan", "filter").fresh is False


def test_people_are_told_once_and_by_the_block_that_the_run_names(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, ...]] = []
    monkeypatch.setattr(flows.hooks, "send", lambda *words: sent.append(words))
    monkeypatch.setenv("HOPWRIGHT_NOTIFY", "slack-webhook/all")
    state: Any = SimpleNamespace(name="Crashed", message="killed\n\nby nobody")
    flow: Any = None
    notify_failure(flow, flow_run(), state)
    notify_failure(flow, flow_run(parameters={"parameters": {"run": "r", "notify": "teams-webhook/ops"}}), state)
    notify_failure(flow, flow_run(parent_task_run_id=uuid4()), state)
    assert [slug for slug, *_ in sent] == ["slack-webhook/all", "teams-webhook/ops"]
    assert sent[0][1] == "Hopwright: build-r crashed"
    assert sent[1][2].splitlines()[:2] == ["killed", "by nobody"]
    assert "Run folder: " in sent[1][2]
    monkeypatch.delenv("HOPWRIGHT_NOTIFY")
    notify_failure(flow, flow_run(), state)
    assert len(sent) == 2


def test_a_notification_that_cannot_be_sent_is_logged_and_no_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(slug: str, **_: object) -> None:
        raise ValueError(f"no {slug}")

    monkeypatch.setattr(flows.hooks.Block, "load", refuse)
    with pytest.raises(ServiceError, match="knows no block slack-webhook/ops"):
        send("slack-webhook/ops", "subject", "body")
    here = flow_run(parameters={"parameters": {"notify": "slack-webhook/ops"}})
    state: Any = SimpleNamespace(name="Failed", message="why")
    flow: Any = None
    notify_failure(flow, here, state)
    assert "could not be sent" in caplog.text


def test_a_notice_is_short_and_says_where_to_look() -> None:
    long = "\n".join(f"line {number}" for number in range(100))
    given = {"parameters": json.loads(BuildParameters(run="r").model_dump_json())}
    subject, body = write_notice(flow_run(parameters=given), "failed", long)
    assert subject == "Hopwright: build-r failed"
    assert len(body.splitlines()) <= 14
    assert "runs/r" in body


def test_a_stage_that_was_handed_over_leaves_its_budget_to_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    def spend(_: FilterRun) -> None:
        raise BudgetError("stopped before the budget of 1.00 dollars is exceeded")

    monkeypatch.setattr(flows.budget, "is_delegated", lambda: True)
    monkeypatch.setattr(flows.budget, "get_run_logger", lambda: logging.getLogger())
    ended: Any = work_within_budget(FilterRun(run="r"), spend)
    assert (ended.type.value, ended.name) == ("FAILED", BUDGET_REACHED)
    monkeypatch.setattr(flows.delegation, "run_deployment", lambda *_, **__: flow_run(state=ended))
    with pytest.raises(BudgetError, match=r"^stopped before the budget of 1\.00 dollars is exceeded$"):
        delegate_to_deployment(FilterRun(run="r"), "filter/filter")
    lost = Crashed(message="the machine went down")
    monkeypatch.setattr(flows.delegation, "run_deployment", lambda *_, **__: flow_run(state=lost))
    with pytest.raises(ServiceError, match="ended as Crashed: the machine went down"):
        delegate_to_deployment(FilterRun(run="r"), "filter/filter")


def test_a_refusal_is_one_line_of_the_log_in_the_words_of_the_form(
    home: Path, deployed: Any, caplog: pytest.LogCaptureFixture
) -> None:
    del home, deployed
    logger = logging.getLogger("prefect.flow_runs")
    with caplog.at_level(logging.ERROR, logger=logger.name):
        logger.addHandler(caplog.handler)
        try:
            read_given({"rewrite": {"passages": "llm"}}, RewriteRun)
        except InputError as error:
            logger.exception("Encountered exception during execution: %r", error)
        try:
            raise ValueError("a bug")
        except ValueError as error:
            logger.exception("Encountered exception during execution: %r", error)
        finally:
            logger.removeHandler(caplog.handler)
    assert caplog.messages[0] == "Twins › Evidence passages llm needs Twins › Model of the passages"
    assert caplog.records[0].exc_info is None
    assert caplog.records[-1].exc_info is not None, "a bug keeps its traceback"


def test_a_form_calls_what_it_shows_at_the_top_by_that_title(home: Path, deployed: Any) -> None:
    del home, deployed
    with pytest.raises(InputError, match=r"^the writer openai needs a model: give Model as endpoint/model$"):
        read_given({"writer": "openai"}, BuildParameters)
    with pytest.raises(InputError, match=r"^Synthesis › Coherence: "):
        read_given({"synthesize": {"coherence": 3}}, BuildParameters)
