"""A maintainer's day on a real Prefect server: everything deployed, a run started by form, watched, mended, resumed."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import yaml

from hopwright.settings import DocumentBuildParameters
from hopwright.stages.registry import list_line
from tests.e2e.conftest import ROOT, Home
from tests.e2e.deployed import Place, is_well, list_family, open_place
from tests.e2e.prefect_database import MISSING, Database
from tests.e2e.prefect_pages import fill, find_field, keep, list_choices, open_group, open_page, submit
from tests.e2e.review_pages import IMAGES
from tests.e2e.serving import PRICES, serving
from tests.llm.builders import KEY
from tests.llm.wire_server import Faults, WireServer

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
STAGES = [spec.name for spec in list_line()]
RUN = "by-form"
BLOCK = "custom-webhook/ops"
HEIGHT = "Math.max(...[...document.querySelectorAll('*')].map(one => one.scrollHeight))"
LISTED: list[dict[str, Any]] = yaml.safe_load((ROOT / "prefect.yaml").read_text("utf-8"))["deployments"]


@dataclass
class Office:
    """`told` is what the notification block delivered."""

    place: Place
    told: list[dict[str, Any]]


class _Listener(http.server.BaseHTTPRequestHandler):
    heard: list[dict[str, Any]]

    def do_POST(self) -> None:
        self.heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def office(prefect_api: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A worker at work, and a block that tells people."""
    told: list[dict[str, Any]] = []
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Heard", (_Listener,), {"heard": told}))
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    home = Home(tmp_path_factory.mktemp("deployed"), prefect_api)
    with open_place(home, "worker") as here:
        here.call_blocks(f"http://127.0.0.1:{listener.server_port}/", KEY)
        yield Office(here, told)
    listener.shutdown()


@pytest.fixture(scope="module")
def place(office: Office) -> Place:
    return office.place


@pytest.fixture(scope="module")
def early(place: Place) -> dict[str, str]:
    """Flow runs that fail at their start, by name: they do so while the browser opens."""
    (night,) = [one for one in LISTED if one["name"] == "nightly"]
    given = {**night["parameters"]["parameters"], "corpus": str(place.home.path / "nowhere")}
    return {
        "wrong": place.start("rewrite/rewrite", run="wrong", rewrite={"passages": "llm"}, notify=BLOCK),
        "night": place.start("build-dataset/nightly", **given),
    }


@pytest.fixture(scope="module")
def by_form(place: Place, early: dict[str, str]) -> dict[str, Any]:
    """A run that was filled in, submitted and watched to its end in the browser; its flow run."""
    id = place.get("/deployments/name/build-dataset/build")["id"]
    server = place.api.removesuffix("/api")
    with open_page() as page:
        page.goto(f"{server}/deployments/deployment/{id}/run")
        find_field(page, "Run").wait_for()
        assert page.evaluate(HEIGHT) < 4000, "the stages' groups are folded"
        assert "continues where the run stopped" in find_field(page, "Run").inner_text()
        assert list_choices(page, "Preset") == ["none", "offline", "api", "gpu", "paper"]
        keep(page, "prefect-form")
        fill(page, "Run", RUN)
        fill(page, "Drafts", "240")
        open_group(page, "Review")
        fill(page, "Items to review", "5")
        open_group(page, "Execution")
        fill(page, "Shard size", "120")
        submit(page)
        rows = place.post("/flow_runs/filter", flow_runs={"deployment_id": {"any_": [id]}})
        (run,) = [row for row in rows if row["id"] not in early.values()]
        page.goto(f"{server}/runs/flow-run/{run['id']}")
        page.get_by_text("Completed", exact=True).first.wait_for(timeout=900_000)
        done = place.watch(run["id"])
        page.reload()
        page.get_by_text("Subflow Runs", exact=True).first.click()
        page.get_by_text(f"release-{RUN}").first.wait_for()
        page.wait_for_timeout(5000 if IMAGES else 0)  # the graph above is drawn last
        keep(page, "prefect")
        found = place.list_artifacts(list_family(place, done["id"]))
        for key, image, words in (
            ("run-summary", "", f"Run {RUN}"),
            ("run-funnel-picture", "prefect-funnel", "the funnel"),
            ("filter-rejected", "prefect-rejected", "What filter rejected"),
        ):
            page.goto(f"{server}/artifacts/artifact/{found[key]['id']}")
            page.get_by_text(words).first.wait_for()
            if image:
                keep(page, image)
        page.goto(f"{server}/artifacts/artifact/{found['run-funnel-picture']['id']}")
        picture = page.locator("img[alt='from stage to stage']")
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 500
    return done


def test_everything_that_the_file_lists_is_deployed(place: Place) -> None:
    there = {row["name"]: row for row in place.post("/deployments/filter", limit=50)}
    assert set(there) >= {one["name"] for one in LISTED}
    for one in LISTED:
        row = there[one["name"]]
        assert row["work_pool_name"] == one["work_pool"]["name"]
        assert row["tags"] == one["tags"]
        assert row["description"] == one["description"]
        assert row["global_concurrency_limit"]["limit"] == 1
        assert row["concurrency_options"]["collision_strategy"] == one["concurrency_limit"]["collision_strategy"]
        planned = [(plan["schedule"]["cron"], plan["schedule"]["timezone"]) for plan in row["schedules"]]
        assert planned == [(plan["cron"], plan["timezone"]) for plan in one.get("schedules", [])]
    assert there["nightly"]["parameters"]["parameters"]["dated"] is True


def test_the_worker_says_that_it_is_well(place: Place) -> None:
    assert is_well(place.ports["worker"])


def test_the_form_explains_and_bounds_every_parameter(place: Place) -> None:
    stages = ("filter/filter", "evaluate/evaluate", "adjudicate/adjudicate")
    for deployment in ("build-dataset/build", "build-documents/documents", *stages):
        schema = place.get(f"/deployments/name/{deployment}")["parameter_openapi_schema"]
        for model in schema["definitions"].values():
            for name, parameter in model.get("properties", {}).items():
                assert parameter.get("title"), name
                assert parameter.get("description") or "$ref" in json.dumps(parameter), name
    form = place.get("/deployments/name/build-dataset/build")["parameter_openapi_schema"]["definitions"]
    fields = form["BuildParameters"]["properties"]
    order = sorted(fields, key=lambda name: fields[name]["position"])
    assert order[:3] == ["run", "preset", "corpus"]
    assert sum(fields[name].get("default", "") is not None for name in order) == 12
    assert fields["filter"]["anyOf"][1]["properties"]["max_right"]["maximum"] == 11
    body = {"parameters": {"parameters": {"seed": -1}}, "state": {"type": "SCHEDULED"}}
    id = place.get("/deployments/name/build-dataset/build")["id"]
    refused = httpx.post(f"{place.api}/deployments/{id}/create_flow_run", json=body, timeout=120)
    assert refused.status_code == 409
    assert "seed" in refused.text


def test_documents_become_questions_by_their_deployment(place: Place) -> None:
    pytest.importorskip("tantivy", reason="the extra documents is not installed")
    form = DocumentBuildParameters().model_dump(mode="json")
    done = place.watch(
        place.start("build-documents/documents", **{**form, "preset": "offline", "hops": ["2"], "most": 5})
    )
    assert (done["name"], done["state_name"]) == ("documents-sample-articles", "Completed")
    made = place.home.path / "document-questions" / "sample-articles"
    assert len((made / "items.jsonl").read_text("utf-8").splitlines()) == 5
    found = place.list_artifacts([done["id"]])
    assert {f"{step}-progress" for step in ("facts", "documents", "index", "questions")} <= set(found)
    assert "| inference, 2 hops |" in found["document-questions"]["data"]
    again = place.watch(place.start("build-documents/documents", preset="offline"))
    assert again["state_type"] == "FAILED"
    assert "holds what hopwright corpus questions wrote earlier" in again["state"]["message"]


def test_a_run_by_form_leaves_everything_that_a_maintainer_looks_for(place: Place, by_form: dict[str, Any]) -> None:
    assert (by_form["name"], by_form["state_name"]) == (f"build-{RUN}", "Completed")
    family = list_family(place, by_form["id"])
    assert len(family) == 1 + len(STAGES)
    found = place.list_artifacts(family)
    assert {row["state_type"] for row in place.find_runs(f"-{RUN}")} == {"COMPLETED"}
    for stage in ("retrieve", "synthesize-drafts", "synthesize", "filter", "rewrite-passages", "rewrite"):
        assert found[f"{stage}-progress"]["data"] == 100.0
        assert "| Yield |" in found[f"{stage}-live"]["data"]
        assert f"{stage}-counts" in found
        assert f"{stage}-story" in found
    funnel = {row["stage"]: row for row in json.loads(found["run-funnel"]["data"])}
    assert funnel["synthesize/drafts"]["in"] == "240"
    assert funnel["review"]["out"] == "5"
    summary = found["run-summary"]["data"]
    for key in ("run-funnel", "run-plots", "filter-report", "rewrite-report"):
        assert found[key]["id"] in summary, "the summary leads to this run's own pages"
    assert found["run-plots"]["data"].count("data:image/png;base64,") >= 5


def test_a_task_is_a_shard(place: Place, by_form: dict[str, Any]) -> None:
    del by_form
    (synthesis,) = place.find_runs(f"synthesize-{RUN}")
    deadline = time.monotonic() + 180  # rows are written up to 20 s later
    names: set[str] = set()
    while not {"synthesize/drafts-0", "synthesize/drafts-1"} <= names and time.monotonic() < deadline:
        rows = place.post("/task_runs/filter", flow_runs={"id": {"any_": [synthesis["id"]]}}, limit=200)
        names = {row["name"] for row in rows}
        time.sleep(0.3)
    # Drafts and the selection by shard; a look over all drafts, the selection itself and the yields are one each.
    assert {"synthesize/drafts-0", "synthesize/drafts-1"} <= names
    assert len(names) <= 2 * 2 + 3


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_the_server_keeps_all_of_it_in_postgresql(by_form: dict[str, Any], prefect_database: Database) -> None:
    names = prefect_database.ask(f"SELECT name FROM flow_run WHERE name LIKE '%-{RUN}' ORDER BY name")
    assert set(names) >= {f"build-{RUN}", *(f"{stage}-{RUN}" for stage in STAGES)}
    assert int(prefect_database.ask("SELECT count(*) FROM artifact")[0]) > len(STAGES)


def test_an_example_of_what_was_rejected_is_opened_by_its_id(place: Place, by_form: dict[str, Any]) -> None:
    found = place.list_artifacts(list_family(place, by_form["id"]))
    rows = json.loads(found["filter-counts"]["data"])
    easy = next(row for row in rows if row["check"] == "too_easy")
    id = easy["examples"].split(", ")[0]
    assert id in found["filter-rejected"]["data"]
    shown = place.home.call("show", id)
    assert shown.returncode == 0
    assert "rejected by too_easy" in shown.stdout


def test_the_log_tells_the_story_with_ids(place: Place, by_form: dict[str, Any]) -> None:
    (synthesis,) = place.find_runs(f"synthesize-{RUN}")
    rows = place.post("/logs/filter", logs={"flow_run_id": {"any_": [synthesis["id"]]}}, limit=200)
    said = "\n".join(row["message"] for row in rows)
    assert "synthesize/drafts begins: 2 shards" in said
    assert "synthesize/drafts, shard 0: 120 in" in said
    assert "such as hw-" in said
    assert "synthesize is finished:" in said


def test_a_wrong_combination_is_one_line_before_any_stage_and_people_are_told(
    place: Place, office: Office, early: dict[str, str]
) -> None:
    wrong = place.watch(early["wrong"])
    assert wrong["state_name"] == "Failed"
    line = "Twins › Evidence passages llm needs Twins › Model of the passages"
    assert line in wrong["state"]["message"]
    rows: list[dict[str, Any]] = []
    until = time.monotonic() + 30
    while not any(line in row["message"] for row in rows) and time.monotonic() < until:  # a run's log comes in batches
        rows = place.post("/logs/filter", logs={"flow_run_id": {"any_": [wrong["id"]]}}, limit=200)
        time.sleep(0.2)
    assert next(row["message"] for row in rows if line in row["message"]) == line
    assert not [row for row in rows if "Traceback" in row["message"] or "--" in row["message"]]
    assert "\n" not in wrong["state"]["message"]
    assert list_family(place, wrong["id"]) == [wrong["id"]]
    assert not (place.home.path / "runs" / "wrong").exists()
    (told,) = [one for one in office.told if one["title"] == "Hopwright: rewrite-wrong failed"]
    assert line in told["text"]
    assert wrong["id"] in told["text"]


def test_a_stage_is_made_again_with_other_parameters_and_its_runs_own(place: Place, by_form: dict[str, Any]) -> None:
    del by_form
    folder = place.home.path / "runs" / RUN
    before = {name: (folder / name / "manifest.json").read_bytes() for name in ("synthesize", "filter", "rewrite")}
    again = place.watch(place.start("release/release", run=RUN, fresh=True, release={"version": "0.2.0"}))
    assert again["state_name"] == "Completed"
    manifest = json.loads((folder / "release" / "manifest.json").read_text("utf-8"))
    assert manifest["parameters"]["release"]["version"] == "0.2.0"
    assert manifest["notes"]["folder"].endswith(f"/hopwright-{RUN}")
    assert {name: (folder / name / "manifest.json").read_bytes() for name in before} == before


def test_a_run_that_reaches_its_budget_waits_for_more_and_is_resumed(
    place: Place, office: Office, by_form: dict[str, Any]
) -> None:
    del by_form
    home = place.home.path
    with serving(WireServer(Faults(key=KEY, latency_s=0.01))) as words:
        (home / "prices.toml").write_text(PRICES, "utf-8")
        (home / "words.toml").write_text(
            f'prices = "{home}/prices.toml"\n[endpoints.words]\nbase_url = "{words.url}/v1"\nkey_env = "WORDS_KEY"\n',
            "utf-8",
        )
        few: dict[str, Any] = {"forms": ["mcq"], "promptings": ["direct"], "protocols": ["question"], "limit": 3}
        models = {"endpoints": str(home / "words.toml"), "budget_usd": 0.0001}
        asked = {"evaluate": {"models": ["words/scribe"], **few}, "models": models}
        id = place.start("evaluate/evaluate", run=RUN, notify=BLOCK, **asked)
        waiting = place.watch(id)
        assert waiting["state_name"] == "Suspended"
        assert words.stats()["received"] == 0
        assert office.told[-1]["title"] == f"Hopwright: evaluate-{RUN} reached its budget"
        assert "stopped before the budget of 0.00 dollars" in office.told[-1]["text"]
        done = place.resume(id, 500)
        assert done["state_name"] == "Completed", done["state"]["message"]
        assert 3 < words.stats()["prompts"] <= 3 * 2, "three items, and the twins of those that have one"


def test_events_chain_the_end_of_a_review_to_decision_and_release(place: Place) -> None:
    facts = {"run": "chained", "url": "http://127.0.0.1:9", "held": 3}
    events = ["hopwright.review.complete", "hopwright.accepted.complete"]
    place.call_blocks("--events", json.dumps(facts), *events)
    for flow, expected in (
        ("adjudicate", {"run": "chained", "adjudicate": {"url": "http://127.0.0.1:9"}}),
        ("release", {"run": "chained", "fresh": True, "release": {"reviewed": True}}),
    ):
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            rows = place.list_runs_of(f"{flow}/{flow}")
            if any(row["parameters"].get("parameters") == expected for row in rows):
                break
            time.sleep(0.3)
        else:
            pytest.fail(f"{flow} was not started by the event")


def test_the_nightly_run_bears_its_day(place: Place, early: dict[str, str]) -> None:
    night = place.watch(early["night"])
    assert night["name"] == f"build-nightly-{night['expected_start_time'][:10]}"
    assert night["state_name"] == "Failed", "there is no corpus"
    assert "nowhere" in night["state"]["message"]
    assert not (place.home.path / "runs" / "nightly").exists()


def test_the_command_line_reports_to_the_same_server(place: Place, by_form: dict[str, Any]) -> None:
    del by_form
    before = {row["id"] for row in place.find_runs(f"filter-{RUN}")}
    manifest = place.home.json("filter", "--run", RUN)
    (new,) = [row for row in place.find_runs(f"filter-{RUN}") if row["id"] not in before]
    assert (new["state_type"], new["parent_task_run_id"]) == ("COMPLETED", None)
    assert manifest["counts"]["in"] == manifest["counts"]["out"] + sum(manifest["counts"]["rejected"].values())
