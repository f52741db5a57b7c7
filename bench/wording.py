"""The worded step against a wire server, beside the client alone: requests a second, and what parsing and checking add.

    python bench/wording.py [--items 400] [--runs 3] [--latency 0.2] [--kind compatible]

Both ask the same requests, from an empty store, of the same server (a process of its own that words every plan rightly,
so that one request is one item). The client alone stops when an answer fits its schema; the step also reads it against
the plan, judges its distractors and contexts, puts it on the draft, runs all checks and makes the record.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from hopwright.knowledge.wikidata.anchors import link_anchors, read_anchor_questions  # noqa: E402
from hopwright.knowledge.wikidata.ingest import ingest  # noqa: E402
from hopwright.knowledge.wikidata.properties import default_table  # noqa: E402
from hopwright.knowledge.wikidata.store import GraphStore  # noqa: E402
from hopwright.llm.config import Endpoint, LimitSettings, LlmSettings  # noqa: E402
from hopwright.llm.prompts import read_prompts  # noqa: E402
from hopwright.llm.session import Session  # noqa: E402
from hopwright.llm.types import ModelRef  # noqa: E402
from hopwright.records import Item, Rejected  # noqa: E402
from hopwright.settings import prompts_folder, sample_folder  # noqa: E402
from hopwright.stages.drafting import Synthesizer  # noqa: E402
from hopwright.wording.llm.editing import Editor  # noqa: E402
from hopwright.wording.llm.model import ModelWriter, ModelWriterSettings  # noqa: E402
from hopwright.wording.llm.plan_brief import PlanBriefWriter  # noqa: E402

SHARD = 250


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--kind", default="compatible", choices=["compatible", "openai", "anthropic"])
    options = parser.parse_args()
    os.environ.setdefault("HOPWRIGHT_BENCH_KEY", "bench")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        ingest(sample_folder(), store)
        synthesizer = Synthesizer(GraphStore.open(store), default_table(), seed=0)
        drafts = draw(synthesizer, options.items)
        command = [sys.executable, "-m", "tests.wording.fallible_model", "--latency", str(options.latency)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        try:
            url = json.loads(server.stdout.readline())["url"]
            settings = describe(url, options.kind)
            rows = [measure(synthesizer, drafts, settings, Path(folder) / str(run)) for run in range(options.runs)]
        finally:
            server.terminate()
            server.wait()
    alone, step, alone_cpu, step_cpu = (statistics.median(column) for column in zip(*rows, strict=True))
    count = len(drafts)
    print(f"{count} items, {options.latency:.1f} s latency, {options.kind}, median of {options.runs}")
    print(f"client alone   {count / alone:7.1f} requests/s, {1000 * alone_cpu / count:5.2f} ms of CPU each")
    print(f"worded step    {count / step:7.1f} requests/s, {1000 * step_cpu / count:5.2f} ms of CPU each")
    print(f"the step takes {step / alone:.2f} times the client's time, {step_cpu / alone_cpu:.2f} times its CPU")


def measure(
    synthesizer: Synthesizer, drafts: list[Item], settings: LlmSettings, folder: Path
) -> tuple[float, float, float, float]:
    """Seconds and CPU seconds of the client alone and of the step, each from an empty store."""
    seconds = []
    for worded in (False, True):
        with Session(settings, folder / f"{worded}.sqlite", run="bench") as session:
            writer = make_writer(synthesizer, session)
            begun, cpu = time.perf_counter(), time.process_time()
            for start in range(0, len(drafts), SHARD):
                batch = drafts[start : start + SHARD]
                if worded:
                    done = writer.word(batch)
                    assert all(isinstance(one.result, Item) for one in done)
                else:
                    futures = [session.submit(writer.first_request(draft)) for draft in batch]
                    assert all(future.result().ok for future in futures)
            seconds.append((time.perf_counter() - begun, time.process_time() - cpu))
    return seconds[0][0], seconds[1][0], seconds[0][1], seconds[1][1]


def make_writer(synthesizer: Synthesizer, session: Session) -> ModelWriter:
    """The writer as the step makes it."""
    table = default_table()
    editor = Editor(synthesizer.graph, table, synthesizer.kinds, synthesizer.context, synthesizer.distractors, seed=0)
    terms = ModelWriterSettings(ModelRef("bench", "tiny"))
    return ModelWriter(
        session, read_prompts(prompts_folder())["word-item"], terms, editor, PlanBriefWriter(table, synthesizer.kinds)
    )


def draw(synthesizer: Synthesizer, wanted: int) -> list[Item]:
    """So many different drafts of the sample."""
    questions = [
        one for one in read_anchor_questions(sample_folder() / "anchors.jsonl") if not isinstance(one, Rejected)
    ]
    anchors, _ = link_anchors(questions, synthesizer.graph)
    found: dict[str, Item] = {}
    start = 0
    while len(found) < wanted:
        found.update((item.id, item) for item in synthesizer.draft(anchors, start, SHARD)[0])
        start += SHARD
    return list(found.values())[:wanted]


def describe(url: str, kind: str) -> LlmSettings:
    """The server as an endpoint."""
    endpoint = Endpoint(
        name="bench", kind=kind, base_url=url + ("" if kind == "anthropic" else "/v1"), free=True,
        key_env="HOPWRIGHT_BENCH_KEY", limits=LimitSettings(max_concurrency=256),
    )  # fmt: skip
    return LlmSettings(endpoints=(endpoint,))


if __name__ == "__main__":
    main()
