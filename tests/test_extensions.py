"""Another package adds a check, a topology, a voter, a distractor, a provider, a stage: one object, one entry point."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hopwright.checks import ADDED, run_checks
from hopwright.difficulty.specs import VOTERS
from hopwright.distractors.proposers import PROPOSERS
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.config import PROVIDERS, read_settings
from hopwright.llm.session import Session
from hopwright.llm.types import Message, Request
from hopwright.records import Anchor
from hopwright.records.arrow import items_to_table, read_items
from hopwright.registry import Registry
from hopwright.release.format import to_release
from hopwright.runs import RunFolder, ShardOutput, Stage
from hopwright.settings import BuildParameters, FilterRun, load_parameters
from hopwright.stages.drafting import Synthesizer
from hopwright.stages.filter import make_filter
from hopwright.stages.registry import STAGES, stages_after
from hopwright.stages.workers import open_pool
from hopwright.topologies import TOPOLOGIES
from tasks.engine import Engine
from tests.drafts import draft_items
from tests.stage_runs import run_stage

REGISTRIES: tuple[Registry[object], ...] = (ADDED, VOTERS, PROPOSERS, PROVIDERS, TOPOLOGIES, STAGES)  # type: ignore[assignment]
Install = Callable[[str, dict[str, str]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a small distribution: its one module, and its entry points as group → `name = module:attribute`."""
    folder = tmp_path / "site"
    folder.mkdir()

    def write(code: str, points: dict[str, str]) -> None:
        (folder / "added_parts.py").write_text(code, "utf-8")
        info = folder / "added_parts-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: added-parts\nVersion: 1.0\n", "utf-8")
        text = "".join(f"[{group}]\n{point}\n" for group, point in points.items())
        (info / "entry_points.txt").write_text(text, "utf-8")
        monkeypatch.syspath_prepend(str(folder))
        importlib.invalidate_caches()
        _forget()

    for registry in REGISTRIES:
        monkeypatch.setattr(registry, "_loaded", dict(registry._loaded))
    yield write
    sys.modules.pop("added_parts", None)
    _forget()


def _forget() -> None:
    """Have the registries look for entry points again."""
    for registry in REGISTRIES:
        registry.__dict__.pop("_found", None)


def make_anchors(graph: GraphStore) -> list[Anchor]:
    return [
        Anchor(question_id=id, question="?", answer=graph.label(id), entity=id, entity_label=graph.label(id))
        for id in list(graph.entities())[::11]
        if graph.degree(id) > 4
    ]


def test_a_check_keeps_items_out(install: Install, sample: GraphStore) -> None:
    synthesizer = Synthesizer(sample, default_table(), seed=3)
    item = next(one for one in draft_items(sample, 40) if "w" in one.question.casefold())
    assert "no_w" not in {result.name for result in run_checks(item, synthesizer.context)}
    install(
        "from hopwright.checks import Check\n"
        "def find(case, context):\n"
        "    if 'w' in case.item.question.casefold(): yield None, 'there is a w in it'\n"
        "NO_W = Check('no_w', 'The question has no w.', find)\n",
        {"hopwright.checks": "no_w = added_parts:NO_W"},
    )
    last = run_checks(item, synthesizer.context)[-1]
    assert (last.name, last.outcome, last.reason) == ("no_w", "fail", "there is a w in it")
    items, rejected = synthesizer.draft(make_anchors(sample), 0, 20)
    assert all("w" not in one.question.casefold() for one in items)
    assert "no_w" in {one.check for one in rejected}


def test_a_topology_can_be_asked_for_and_is_drawn(install: Install, sample: GraphStore) -> None:
    wanted = {"synthesize": {"topologies": ["tail-5"]}}
    with pytest.raises(InputError, match=r"synthesize\.topologies\.0: should be one of chain, "):
        load_parameters(wanted, BuildParameters)
    install(
        "from hopwright.topologies import Topology\n"
        "TAIL = Topology('tail-5', 'Converging', ((), (), (1, 2), (3,), (4,)))\n",
        {"hopwright.topologies": "tail-5 = added_parts:TAIL"},
    )
    parameters = load_parameters(wanted, BuildParameters)
    synthesizer = Synthesizer(sample, default_table(), seed=3, topologies=parameters.synthesize.topologies)
    items, _ = synthesizer.draft(make_anchors(sample), 0, 25)
    assert items
    assert {(item.topology, len(item.hops)) for item in items} == {("tail-5", 5)}
    assert to_release(items[0])["motif_type"] == "Converging"


def test_a_voter_votes_in_the_filter(install: Install, sample_folder: Path, sample: GraphStore, tmp_path: Path) -> None:
    parameters = FilterRun(run="r", filter={"voters": ["fixed:2", "shortcut:options-only"], "max_right": 1})  # type: ignore[arg-type]
    install(
        "from hopwright.difficulty.voters import ChosenOption\n"
        "class Fixed:\n"
        "    def __init__(self, model, store, seed):\n"
        "        self.name, self.option = model, int(model)\n"
        "        assert store.is_dir()\n"
        "    def choose(self, choices):\n"
        "        return [ChosenOption(self.option) for _ in choices]\n",
        {"hopwright.voters": "fixed = added_parts:Fixed"},
    )
    run = RunFolder(tmp_path / "home", "r")
    run.begin({})
    (run.home / "stores").mkdir(parents=True)
    (run.home / "stores" / "sample").symlink_to(sample_folder)
    items = draft_items(sample, 40)
    run_stage(Stage(run, "retrieve"), [], lambda _: ShardOutput(items_to_table([]), [], taken=0), parameters={},
              notes={"store": "stores/sample"})  # fmt: skip
    run_stage(Stage(run, "synthesize"), [items], lambda part: ShardOutput(items_to_table(part), [], taken=len(part)),
              parameters={})  # fmt: skip
    with run.hold(), open_pool(1):
        made = make_filter(Engine(run), parameters)
    assert made.notes["voters"] == ["2", "options-only"]
    kept = [item for part in Stage(run, "filter").parts() for item in read_items(part)]
    assert kept
    assert {vote.model for item in kept for vote in item.votes} == {"2", "options-only"}
    with pytest.raises(InputError, match=r"vllm:MODEL, transformers:MODEL, fixed:MODEL or ENDPOINT/MODEL"):
        make_filter(Engine(run), FilterRun(run="r", filter={"voters": ["other:x"], "max_right": 0}, fresh=True))  # type: ignore[arg-type]


def test_what_a_package_proposes_becomes_a_distractor(install: Install, sample: GraphStore) -> None:
    anchors = make_anchors(sample)

    def list_options() -> set[tuple[str, int, str]]:
        short = Synthesizer(sample, default_table(), seed=3, topologies=("chain-2", "converging-3"), min_domains=1)
        items, _ = short.draft(anchors, 0, 100)
        return {(item.id, hop.index, one.text) for item in items for hop in item.hops for one in hop.distractors}

    before = list_options()
    install(
        "PROPOSED = []\n"
        "def propose(hop, answers):\n"
        "    if hop.answer_type != 'number' or not hop.answer.isdigit(): return []\n"
        "    found = [int(hop.answer) + more for more in (-5, -4, -3, 3, 4, 5, 7)]\n"
        "    PROPOSED.extend(map(str, found))\n"
        "    return found\n",
        {"hopwright.distractors": "some_more = added_parts:propose"},
    )
    gained = {text for _, _, text in list_options() - before}
    assert gained & set(importlib.import_module("added_parts").PROPOSED)


def test_a_provider_answers_requests(install: Install, tmp_path: Path) -> None:
    endpoints = tmp_path / "endpoints.toml"
    endpoints.write_text('[endpoints.mine]\nkind = "echo"\nfree = true\n', "utf-8")
    with pytest.raises(InputError, match=r"the kinds are openai, anthropic, compatible, not echo"):
        read_settings(endpoints)
    install(
        "from hopwright.llm.providers import Reply\n"
        "from hopwright.llm.types import TokenUsage\n"
        "class Echo:\n"
        "    native_choices = False\n"
        "    def __init__(self, endpoint, key): self.name = endpoint.name\n"
        "    async def send(self, call, timeout_s):\n"
        "        text = f'{self.name} heard {call.messages[-1].content}'\n"
        "        return Reply(text, 'stop', TokenUsage(input=1, output=1), call.model, 'id')\n"
        "    async def close(self): pass\n",
        {"hopwright.providers": "echo = added_parts:Echo"},
    )
    with Session(read_settings(endpoints), tmp_path / "llm.sqlite") as session:
        outcome = session.complete(Request((Message("user", "hello"),), "mine", "any"))
    assert outcome.ok
    assert outcome.text == "mine heard hello"


def test_a_stage_rests_on_what_it_needs(install: Install) -> None:
    assert stages_after("rewrite") == ("review", "release")
    install(
        "from hopwright.settings import RunParameters\n"
        "from hopwright.stages.plan import StageSpec\n"
        "TRAIN = StageSpec('train', RunParameters, ('release',), ())\n",
        {"hopwright.stages": "train = added_parts:TRAIN"},
    )
    assert stages_after("rewrite") == ("review", "release", "train")
    assert stages_after("filter/plan") == ("filter", "rewrite", "review", "release", "train")


def test_a_name_that_is_taken_or_cannot_be_loaded_is_one_line(install: Install) -> None:
    install("", {"hopwright.topologies": "chain = added_parts:CHAIN", "hopwright.checks": "gone = added_parts:GONE"})
    with pytest.raises(InputError, match=r"^two packages call a topology 'chain' \(entry points of hopwright"):
        TOPOLOGIES.find("unknown")
    with pytest.raises(InputError, match=r"^the check 'gone' cannot be loaded from added_parts:GONE: "):
        ADDED.find("gone")
