"""Whether agents can learn here: a tiny policy, TRL's GRPO, our reward, five seeds.

    python bench/training.py                 five seeds, about an hour on two cores, and the curve as a plot
    python bench/training.py --seeds 1 --steps 20 --no-plot

A small world is made in which every hop has one answer that one passage states (that is checked), and is served by
`hopwright environment serve`. A policy of two and a half million weights, at first an imitation of a crowd of good and
bad agents, is trained over HTTP in the environment of `make trl`; every seed makes its own imitation. What it is worth
is measured before and after on people whom it was not trained on; the exit code is 1 where it is not worth
significantly more (paired t-test over the seeds).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scipy import stats  # noqa: E402

from hopwright.environments.task import GoldPlace, Task, TaskHop  # noqa: E402
from hopwright.knowledge.documents.adding import add_source  # noqa: E402
from hopwright.knowledge.documents.index import Retriever, build_index  # noqa: E402
from hopwright.settings import CorpusAddParameters, CorpusIndexParameters  # noqa: E402
from hopwright.training.task_files import TaskLine, write_tasks  # noqa: E402

TRL = ROOT / ".venvs" / "trl" / "bin" / "python"
PLOT = ROOT / "docs" / "images" / "training.png"
PEOPLE, TOWNS, LANDS, TESTED = 72, 24, 8, 24


def main() -> None:
    """Make the world, train every seed, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=70, help="updates of GRPO")
    parser.add_argument("--imitation", type=int, default=400, help="updates of the imitation before")
    parser.add_argument("--no-plot", action="store_true")
    given = parser.parse_args()
    if not TRL.is_file():
        print("this needs TRL in an environment of its own: make trl")
        return
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        make_world(home)
        results = train(home, given)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{(used.ru_utime + used.ru_stime) / 60:.1f} minutes of processor time")
    report(results, plot=not given.no_plot)


def make_world(home: Path) -> None:
    """People live in towns, towns lie in lands: passages, an index, tasks, and the names for the policy."""
    draw = random.Random("world")
    names = make_names(draw, PEOPLE + TOWNS + LANDS)
    people, towns, lands = names[:PEOPLE], names[PEOPLE : PEOPLE + TOWNS], names[PEOPLE + TOWNS :]
    town_of = {person: towns[place % TOWNS] for place, person in enumerate(people)}
    land_of = {town: lands[place % LANDS] for place, town in enumerate(towns)}
    texts = {person: f"{person} lives in {town}." for person, town in town_of.items()}
    texts |= {town: f"{town} lies in {land}." for town, land in land_of.items()}
    rows = [{"id": name, "title": name, "text": text} for name, text in texts.items()]
    (home / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = home / "corpora" / "world"
    add_source(home / "pages.jsonl", corpus, CorpusAddParameters(near_duplicates=0), lambda _: None)
    build_index(corpus, CorpusIndexParameters(workers=1))
    retriever = Retriever.open(corpus)
    lines = [make_task(person, town_of[person], land_of[town_of[person]], retriever) for person in people]
    for line in lines:
        prove(line, texts)
    (home / "tasks.jsonl").write_bytes(write_tasks(lines))
    split = {"test": people[:TESTED], "train": people[TESTED:]}
    world: dict[str, Any] = {"people": people, "towns": towns, "lands": lands}
    world |= {name: {person: f"home-of-{person}" for person in chosen} for name, chosen in split.items()}
    (home / "world.json").write_text(json.dumps(world))


def make_names(draw: random.Random, count: int) -> list[str]:
    """Invented names, all different."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(3)).capitalize()] = None
    return list(found)


def make_task(person: str, town: str, land: str, retriever: Retriever) -> TaskLine:
    """The task of a person: in which land is the town where they live?"""
    gold = []
    for name in (person, town):
        document, _, _ = retriever.store.find(name)
        gold.append(((GoldPlace(document.id, 0, len(document.text)),),))
    hops = (
        TaskHop(1, f"In which town does {person} live?", (town,), (), gold[0]),
        TaskHop(2, f"In which land lies {town}?", (land,), (1,), gold[1]),
    )
    task = Task(f"home-of-{person}", f"Which land is the home of {person}?", (land,), "text", hops, max_steps=6)
    return TaskLine.from_task(task)


def prove(line: TaskLine, texts: dict[str, str]) -> None:
    """Each hop has one answer, which one passage states, and no passage leads past the first hop."""
    town, land = line.hops[0].answers[0], line.hops[1].answers[0]
    person = line.id.removeprefix("home-of-")
    assert [text for text in texts.values() if text.startswith(f"{person} ")] == [f"{person} lives in {town}."]
    assert [text for text in texts.values() if text.startswith(f"{town} ")] == [f"{town} lies in {land}."]
    assert not any(person in text and land in text for text in texts.values())


def train(home: Path, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Serve the world and train every seed over it, one after the other."""
    environment = {**os.environ, "HOPWRIGHT_HOME": str(home), "OMP_NUM_THREADS": "1"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "flows.cli", "environment", "serve", str(home / "tasks.jsonl"), "--corpus", "world",
        "--journal", str(home / "journal"), "--port", str(port),
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    try:
        wait(url)
        results = []
        script = ROOT / "bench" / "training_policy" / "train.py"
        for seed in range(given.seeds):
            policy = str(home / f"policy-{seed}.pt")
            call = [str(TRL), str(script), str(home / "world.json"), policy, "--url", url, "--seed", str(seed)]
            began = time.monotonic()
            subprocess.run([*call, "--imitation", str(given.imitation)], check=True, env=environment)
            print(f"imitation: {time.monotonic() - began:.0f} s", flush=True)
            seeded = [*call, "--steps", str(given.steps)]
            done = subprocess.run(seeded, capture_output=True, text=True, check=False, env=environment)
            lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
            if not lines:
                sys.exit(done.stdout[-2000:] + done.stderr[-4000:])
            results.append(json.loads(lines[0].removeprefix("RESULT ")))
            row = results[-1]
            print(
                f"seed {seed}: worth {row['before']['worth']:.2f} → {row['after']['worth']:.2f}, right "
                f"{row['before']['right']:.2f} → {row['after']['right']:.2f}, {row['seconds']['all']:.0f} s "
                f"({row['seconds']['server']:.0f} s of them in the server)",
                flush=True,
            )
        return results
    finally:
        server.terminate()
        server.wait()


def wait(url: str) -> None:
    """Until the server answers."""
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    sys.exit("the server of episodes does not answer")


def report(results: list[dict[str, Any]], *, plot: bool) -> None:
    """Print what all seeds came to, and draw the curves."""
    before, after = ([row[side]["worth"] for row in results] for side in ("before", "after"))
    mean = [sum(values) / len(values) for values in (before, after)]
    print(f"{results[0]['weights']:,} weights; mean over {len(results)} seeds: {mean[0]:.3f} → {mean[1]:.3f}")
    if plot:
        draw_curves([row["curve"] for row in results], mean)
    if len(results) < 2:
        return
    test = stats.ttest_rel(after, before, alternative="greater")
    print(f"paired t-test: t = {test.statistic:.2f}, p = {test.pvalue:.2g}")
    sys.exit(int(not test.pvalue < 0.01))


def draw_curves(curves: list[list[float]], mean: list[float]) -> None:
    """Mean reward of each batch, a thin line a seed and a thick one for all."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for number, curve in enumerate(curves):
        axes.plot(
            range(1, len(curve) + 1), curve, color="#9db8d2", linewidth=0.9, label="one seed" if not number else None
        )
    together = [sum(values) / len(values) for values in zip(*curves, strict=True)]
    axes.plot(
        range(1, len(together) + 1), together, color="#1f4e79", linewidth=2.2, label=f"mean of {len(curves)} seeds"
    )
    axes.axhline(1.5, color="#888888", linewidth=0.8, linestyle="--")
    axes.annotate("best possible: right, both hops found, no useless call", (1, 1.515), fontsize=8, color="#555555")
    axes.set(xlabel="update of GRPO", ylabel="mean reward `hops` of 64 episodes", ylim=(0, 1.62))
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PLOT, dpi=130)
    plt.close(figure)
    print(f"{PLOT.relative_to(ROOT)}: on held-out people {mean[0]:.2f} before, {mean[1]:.2f} after")


if __name__ == "__main__":
    main()
