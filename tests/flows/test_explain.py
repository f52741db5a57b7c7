"""`hopwright explain`: an item's origin, its course through a run, and what models were asked for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopwright.llm.session import Session
from hopwright.records import Provenance, Rejected
from hopwright.records.arrow import items_to_table
from hopwright.runs import RunFolder, ShardOutput, Stage
from tests.builders import chain_item
from tests.e2e.serving import serving
from tests.llm.builders import KEY, request, settings
from tests.llm.wire_answers import right_answer
from tests.llm.wire_server import Faults, WireServer
from tests.stage_runs import run_stage

ITEM = chain_item()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", KEY)


def make_run(home: Path, name: str = "r", keys: tuple[str, ...] = ()) -> None:
    """A run whose filter drops the one item that was drafted."""
    worded = Provenance(
        generator="model", model="local/tiny", model_version="tiny", prompt="word-item", prompt_version="3",
        request_keys=keys, input_tokens=1200, output_tokens=80, cost_usd=0.002,
    )  # fmt: skip
    item = ITEM.model_copy(update={"provenance": worded}) if keys else ITEM
    run = RunFolder(home, name)
    dropped = Rejected(key=item.id, check="too_easy", reason="two voters were right", row=item.model_dump_json())
    kept, lost = ShardOutput(items_to_table([item]), [], 1), ShardOutput(items_to_table([]), [dropped], 1)
    run_stage(Stage(run, "synthesize"), [kept], lambda one: one, parameters={})
    run_stage(Stage(run, "filter"), [lost], lambda one: one, parameters={})


def test_an_item_made_by_rules_says_so_and_shows_its_plan_and_checks(home: Path, call) -> None:  # type: ignore[no-untyped-def]
    make_run(home)
    result = call("explain", ITEM.id)
    assert result.code == 0
    assert "Made by rules from its plan: no model was asked for it." in result.out
    for hop in ITEM.hops:
        assert hop.question in result.out
        assert f" = {hop.answer}" in result.out
    for check in ITEM.checks:
        assert check.name in result.out
    assert "filter: rejected by too_easy: two voters were right" in result.out
    told = json.loads(call("explain", ITEM.id, "--json").out)
    assert [step["outcome"] for step in told["course"]] == ["accepted", "rejected"]
    assert told["item"]["id"] == ITEM.id
    assert told["exchanges"] == []


def test_a_draft_of_which_only_the_reason_is_kept_is_said_to_be_in_the_run(home: Path, call) -> None:  # type: ignore[no-untyped-def]
    make_run(home)
    lost = Rejected(key="hw-538ca25d015a8489", check="distractors_losers", reason="too few", row="")
    drafts = Stage(RunFolder(home, "r"), "synthesize/drafts")
    run_stage(drafts, [ShardOutput(items_to_table([]), [lost], 1)], lambda one: one, parameters={})
    said = call("explain", lost.key).out
    assert said.startswith("Rejected; of this draft only the reason is kept. No model was asked for it.\n")
    assert "No run holds" not in said
    assert "synthesize/drafts: rejected by distractors_losers: too few" in said


def test_the_beginning_of_an_id_is_enough_where_one_item_has_it(home: Path, call) -> None:  # type: ignore[no-untyped-def]
    make_run(home)
    told = call("explain", ITEM.id[:8])
    assert told.code == 0
    assert told.out == call("explain", ITEM.id).out
    assert "no item 'hw-ffffff' in" in call("explain", "hw-ffffff").err
    assert "no item 'hw-' in" in call("explain", "hw-").err, "that tells nothing"
    other = ITEM.model_copy(update={"id": f"{ITEM.id[:8]}{'0' * 11}"})
    shard = ShardOutput(items_to_table([ITEM, other]), [], 2)
    run_stage(Stage(RunFolder(home, "r"), "rewrite"), [shard], lambda one: one, parameters={})
    refused = call("explain", ITEM.id[:8])
    assert (refused.code, refused.out) == (1, "")
    assert f"2 items begin with '{ITEM.id[:8]}': " in refused.err and ITEM.id in refused.err and other.id in refused.err


def test_an_item_worded_by_a_model_shows_what_was_asked_and_answered(home: Path, call) -> None:  # type: ignore[no-untyped-def]
    with serving(WireServer()) as server, Session(settings(server), home / "llm.sqlite") as session:
        worded = session.complete(request("row 1", item=ITEM.id))
        shared = session.complete(request("row 2", item="another item"))
    make_run(home, keys=(worded.key, shared.key))
    out = call("explain", ITEM.id, "--run", "r").out
    assert "Worded by local/tiny (tiny), prompt word-item version 3: 1,200 tokens in, 80 out, 0.002000 dollars." in out
    assert right_answer("row 1") in out
    assert right_answer("row 2") in out, "what the record lists is shown whoever it was first asked for"
    told = json.loads(call("explain", ITEM.id, "--json").out)
    assert [exchange["key"] for exchange in told["exchanges"]] == [worded.key, shared.key]


def test_the_latest_run_that_holds_the_item_is_told_unless_one_is_named(home: Path, call) -> None:  # type: ignore[no-untyped-def]
    make_run(home, "one")
    RunFolder(home, "two").begin({})
    assert json.loads(call("explain", ITEM.id, "--json").out)["run"] == "one"
    result = call("explain", ITEM.id, "--run", "two")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        f"hopwright: no item '{ITEM.id}' in run 'two', and no model was asked for one: `hopwright show` prints ids\n"
    )


def test_show_looks_for_an_item_in_the_run_that_is_named(home: Path, call) -> None:  # type: ignore[no-untyped-def]
    make_run(home, "one")
    make_run(home, "two")
    assert "In run two" in call("show", ITEM.id).out
    assert "In run one" in call("show", ITEM.id, "--run", "one").out
    for verb in ("show", "explain"):
        result = call(verb, ITEM.id, "--run", "three")
        assert (result.code, result.out) == (1, "")
        assert "no run 'three' in" in result.err and "there are one, two" in result.err
    twice = call("show", "one", "--run", "two")
    assert (twice.code, twice.out) == (2, "")
    assert "two runs are named, 'one' and 'two'" in twice.err and twice.err.count("\n") == 1


def test_every_round_is_looked_through_and_drafts_of_one_plan_are_told_apart(home: Path, call) -> None:  # type: ignore[no-untyped-def]
    run = RunFolder(home, "r")
    repeated = Rejected(key=ITEM.id, check="duplicate", reason="another draft of this plan")
    for stage in ("synthesize/drafts", "synthesize/drafts-2", "synthesize/drafts-10"):
        run_stage(Stage(run, stage), [ShardOutput(items_to_table([ITEM]), [], 1)], lambda one: one, parameters={})
    twice = ShardOutput(items_to_table([ITEM]), [repeated, repeated], 3)
    run_stage(Stage(run, "synthesize"), [twice], lambda one: one, parameters={})
    out = call("explain", ITEM.id).out
    assert out[out.index("In run r") :].splitlines()[1:] == [
        "  synthesize/drafts: accepted",
        "  synthesize/drafts-2: accepted",
        "  synthesize/drafts-10: accepted",
        "  synthesize: accepted",
        "  synthesize: rejected by duplicate: another draft of this plan (2 drafts of this plan)",
    ]


def test_a_fact_that_is_known_to_the_year_is_shown_as_a_year(home: Path, call) -> None:  # type: ignore[no-untyped-def]
    make_run(home)
    out = call("explain", ITEM.id).out
    assert "Vestmark – inception – 1905" in out
    assert "01-01" not in out and "1 January" not in out


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_an_item_of_no_run_is_shown_by_its_requests(home: Path, extra: list[str], call) -> None:  # type: ignore[no-untyped-def]
    with serving(WireServer(Faults(refusal=1.0))) as server, Session(settings(server), home / "llm.sqlite") as session:
        session.complete(request("row 1", item="hw-lost"))
    result = call("explain", "hw-lost", *extra)
    assert result.code == 0
    assert "refusal" in result.out
