"""The model client against a bare floor and four synthetic-data tools, on a local server with a fixed latency.

    python bench/llm.py                     # everything, 5 repeats, interleaved
    python bench/llm.py -s A E -c hopwright floor -r 1
    python bench/llm.py --install           # make the tools' environments first (about 3 GB)

Scenarios: A throughput, B a server that answers 429 above 64 in flight, C `kill -9` half-way and again, D the same run
with one edited row, E malformed answers, errors, stalls and cut connections. Every run is a process of its own; its
rows are compared with what the server must have answered. `wall` is measured inside it, from before the client is
made until the rows are written; `process` is all of it, imports included; `cpu` is the whole process's.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.e2e.serving import read_stats, serve  # noqa: E402
from tests.llm.wire_answers import right_answer  # noqa: E402

LATENCY = ["--latency", "0.2"]
FAULTS = ["--malformed", "0.05", "--status_500", "0.02", "--stall", "0.01", "--stall_s", "60", "--cut", "0.01"]


@dataclass(frozen=True)
class Contestant:
    """A script and the package whose environment it runs in; `kind` is a variant of the script."""

    name: str
    script: str
    package: str = ""
    also: tuple[str, ...] = ()
    kind: str = ""
    resumes: bool = True


CONTESTANTS = [
    Contestant("floor", "floor.py", resumes=False),
    Contestant("hopwright", "hopwright_client.py"),
    Contestant("hopwright (openai SDK)", "hopwright_client.py", kind="openai"),
    Contestant("hopwright (anthropic SDK)", "hopwright_client.py", kind="anthropic"),
    Contestant("distilabel", "distilabel_pipeline.py", "distilabel[openai]==1.5.3", ("openai<2", "requests", "bs4")),
    Contestant("curator", "curator_llm.py", "bespokelabs-curator==0.1.31"),
    Contestant("sdg-hub", "sdg_hub_flow.py", "sdg-hub==0.9.4"),
    Contestant("data-designer", "data_designer_run.py", "data-designer==0.9.6"),
]


@dataclass
class Outcome:
    """What one run took and what came of it."""

    wall_s: float = 0.0
    process_s: float = 0.0
    cpu_s: float = 0.0
    finished: bool = False
    right: int = 0
    rejected: int = 0
    wrong: int = 0
    missing: int = 0
    doubled: int = 0
    received: int = 0
    refused: int = 0
    resent: int = 0
    note: str = ""


@dataclass
class Run:
    """A contestant's outcomes in one scenario."""

    contestant: str
    scenario: str
    outcomes: list[Outcome] = field(default_factory=list)


def start(
    contestant: Contestant, options: argparse.Namespace, url: str, state: Path, *extra: str
) -> subprocess.Popen[bytes]:
    """One run as a process group of its own."""
    python = sys.executable if not contestant.package else str(venv_of(contestant, options) / "bin" / "python")
    command = [
        python, str(ROOT / "bench" / "llm_peers" / contestant.script), "--url", url, "--state", str(state / "state"),
        "--out", str(state / "rows.jsonl"), "--kind", contestant.kind, *extra,
    ]  # fmt: skip
    environment = {**os.environ, "OPENAI_API_KEY": "bench", "HOME": str(state), "TOKENIZERS_PARALLELISM": "false"}
    return subprocess.Popen(
        command, cwd=state, env=environment, stdout=(state / "out.txt").open("wb"),
        stderr=(state / "err.txt").open("wb"), start_new_session=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[bytes], state: Path, limit_s: float, began: float) -> Outcome:
    """Wait for a run, and end it where it does not end by itself."""
    outcome = Outcome()
    deadline = time.monotonic() + limit_s
    usage = None
    while time.monotonic() < deadline:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            break
        time.sleep(0.01)
    else:
        kill_group(process)
        outcome.note = f"not finished after {limit_s:.0f} s"
        return outcome
    outcome.process_s = time.monotonic() - began
    outcome.cpu_s = usage.ru_utime + usage.ru_stime if usage else 0.0
    if process.returncode == 0:
        took = json.loads((state / "out.txt").read_text(errors="replace").strip().splitlines()[-1])
        outcome.wall_s, outcome.finished = took["wall_s"], True
    else:
        lines = (state / "err.txt").read_text(errors="replace").strip().splitlines()
        outcome.note = f"ended with {process.returncode}: {lines[-1][:160] if lines else ''}"
    return outcome


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a run with all the processes that it started, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def check_rows(outcome: Outcome, state: Path, rows: int, edited: int = -1) -> None:
    """Compare the result file with what the server must have answered."""
    found: dict[int, dict[str, Any]] = {}
    path = state / "rows.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        row = json.loads(line)
        outcome.doubled += row["row"] in found
        found[row["row"]] = row
    for number in range(rows):
        row = found.get(number, {})
        prompt = f"row {number}" + (", edited" if number == edited else "")
        outcome.missing += not row
        outcome.rejected += "rejected" in row
        outcome.right += row.get("answer") == right_answer(prompt)
        outcome.wrong += "answer" in row and row["answer"] != right_answer(prompt)


def run_once(contestant: Contestant, scenario: str, options: argparse.Namespace) -> dict[str, Outcome]:
    """One run of a scenario; A and D share a server and a state, so they come together."""
    state = Path(tempfile.mkdtemp(prefix="bench-llm-"))
    rows = 2000 * options.rows // 5000 if scenario == "B" else options.rows
    plain = ["--rows", str(rows), "--concurrency", str(options.concurrency), "--timeout", str(options.timeout)]
    faults = {"B": ["--cap", "64"], "E": FAULTS}.get(scenario, [])
    try:
        with serve("tests.llm.wire_server", "--fence", "--idle", "600", *LATENCY, *faults) as url:
            if scenario == "C":
                return {"C": run_killed(contestant, options, url, state, plain)}
            began = time.monotonic()
            outcome = finish(start(contestant, options, url, state, *plain), state, options.limit, began)
            check_rows(outcome, state, rows)
            count(outcome, url, rows)
            found = {scenario: outcome}
            if scenario == "A" and contestant.resumes and outcome.finished and "D" in options.scenarios:
                before = read_stats(url)["received"]
                (state / "rows.jsonl").unlink()
                began = time.monotonic()
                again = start(contestant, options, url, state, *plain, "--edited", str(rows // 2))
                found["D"] = finish(again, state, options.limit, began)
                check_rows(found["D"], state, rows, edited=rows // 2)
                found["D"].received = read_stats(url)["received"] - before
            return found
    finally:
        shutil.rmtree(state, ignore_errors=True)


def run_killed(contestant: Contestant, options: argparse.Namespace, url: str, state: Path, plain: list[str]) -> Outcome:
    """Half of a run, `kill -9`, and the whole run again."""
    first = start(contestant, options, url, state, *plain)
    deadline = time.monotonic() + options.limit
    while read_stats(url)["answered"] < options.rows / 2 and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    kill_group(first)
    time.sleep(0.5)
    began = time.monotonic()
    outcome = finish(start(contestant, options, url, state, *plain), state, options.limit, began)
    check_rows(outcome, state, options.rows)
    count(outcome, url, options.rows)
    outcome.resent = max(0, outcome.received - options.rows)
    return outcome


def count(outcome: Outcome, url: str, rows: int) -> None:
    """Add what the server saw."""
    stats = read_stats(url)
    outcome.received, outcome.refused = stats["received"], stats["counts"].get("429", 0)


def venv_of(contestant: Contestant, options: argparse.Namespace) -> Path:
    """Where a tool's environment lies."""
    return Path(options.venvs) / contestant.package.partition("=")[0].partition("[")[0]


def install(contestant: Contestant, options: argparse.Namespace) -> str:
    """Make a tool's environment; returns what went wrong, if anything did."""
    folder = venv_of(contestant, options)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "pip"), "install", "-q", contestant.package, *contestant.also]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def render(runs: dict[tuple[str, str], Run]) -> str:
    """A table per scenario: medians, and the worst of the counts."""
    lines = []
    for scenario in sorted({scenario for _, scenario in runs}):
        lines += [f"\n### {scenario}\n", "| | wall s | process s | cpu s | rows right | rejected | lost or wrong | "
                  "requests | 429s | sent again | |", "|---|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
        for (name, which), run in runs.items():
            if which == scenario:
                lines.append(_render_run(name, run))
    return "\n".join(lines)


def _render_run(name: str, run: Run) -> str:
    done = [outcome for outcome in run.outcomes if outcome.finished]
    notes = sorted({outcome.note for outcome in run.outcomes if outcome.note})
    unfinished = f"{len(run.outcomes) - len(done)} of {len(run.outcomes)} runs: {'; '.join(notes)}" if notes else ""
    if not done:
        return f"| {name} | – | – | – | – | – | – | – | – | – | {unfinished} |"
    wall, process, cpu = (
        statistics.median(getattr(outcome, key) for outcome in done) for key in ("wall_s", "process_s", "cpu_s")
    )
    counts = [
        f"{statistics.median_low([getattr(outcome, key) for outcome in done]):,}" for key in ("right", "rejected")
    ]
    lost = max(outcome.wrong + outcome.missing + outcome.doubled for outcome in done)
    served = [
        f"{statistics.median_low([getattr(outcome, key) for outcome in done]):,}"
        for key in ("received", "refused", "resent")
    ]
    cells = [name, f"{wall:.2f}", f"{process:.2f}", f"{cpu:.2f}", *counts, f"{lost:,}", *served, unfinished]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run, print, and keep every single figure where `--json` says."""
    names = [contestant.name for contestant in CONTESTANTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-s", "--scenarios", nargs="+", default=list("ABCDE"), choices=list("ABCDE"))
    parser.add_argument("-c", "--contestants", nargs="+", default=names, choices=names, metavar="NAME")
    parser.add_argument("-r", "--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--timeout", type=float, default=10.0, help="each contestant's wait for one answer, seconds")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds after which a run counts as hanging")
    parser.add_argument("--venvs", default=str(ROOT / ".venvs" / "llm-bench"))
    parser.add_argument("--install", action="store_true", help="make the tools' environments")
    parser.add_argument("--json", type=Path, help="write every run's figures here")
    options = parser.parse_args()
    chosen = [contestant for contestant in CONTESTANTS if contestant.name in options.contestants]
    for contestant in list(chosen):
        if contestant.package and not venv_of(contestant, options).exists():
            problem = install(contestant, options) if options.install else "no environment; --install makes it"
            if problem:
                print(f"left out: {contestant.name}: {problem}", file=sys.stderr)
                chosen.remove(contestant)
    runs: dict[tuple[str, str], Run] = {}
    for scenario in [name for name in options.scenarios if name != "D" or "A" not in options.scenarios]:
        for repeat in range(options.repeats):
            for contestant in chosen:
                if scenario == "C" and not contestant.resumes:
                    continue
                for which, outcome in run_once(contestant, "A" if scenario == "D" else scenario, options).items():
                    run = runs.setdefault((contestant.name, which), Run(contestant.name, which))
                    run.outcomes.append(outcome)
                    took = f"{outcome.wall_s:.2f} s, {outcome.cpu_s:.2f} s cpu" if outcome.finished else outcome.note
                    print(f"{which} {repeat + 1}/{options.repeats} {contestant.name}: {took}", file=sys.stderr)
    print(f"load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(render(runs))
    if options.json:
        options.json.write_text(json.dumps([asdict(run) for run in runs.values()], indent=1))


if __name__ == "__main__":
    main()
