"""The graph at the size of Wikidata5M, its ingest against DuckDB on the same files and a bare parse as the floor.

    python bench/graph.py                       1 %, 10 % and 100 %
    python bench/graph.py --scale 0.1           one size
    python bench/graph.py --work DIR --json

The corpus is synthetic, of Wikidata5M's shape: 4.6 million entities with spread ids, 822 properties with a
long tail, 20.6 million triplets with hubs, 11.8 million aliases beside the labels, some names not ASCII, homonyms.
Times are medians of the runs; every ingest runs in a process of its own, whose peak memory is reported. DuckDB is left
out where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

TRIPLETS, ENTITIES, ALIASES, PROPERTIES = 20_600_000, 4_600_000, 11_800_000, 822
NAMES = ROOTS = 20_000
TRIPLET_FILE, ENTITY_FILE = "wikidata5m_all_triplet.txt", "wikidata5m_entity.txt"
TARGETS = {
    "ingest_s": 25.0, "ingest_peak_gib": 2.5, "open_s": 0.1, "open_private_mib": 100.0,
}  # fmt: skip


def make_corpus(folder: Path, scale: float) -> None:
    """Write the synthetic corpus, unless it is there."""
    if (folder / "done").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    entities, triplets = int(ENTITIES * scale), int(TRIPLETS * scale)
    ids = np.sort(rng.choice(int(65_000_000 * max(scale, 0.05)), entities, replace=False) + 1)
    ranks = np.minimum((entities ** rng.random(triplets)).astype(np.int64), entities - 1)
    objects = rng.permutation(entities)[ranks]
    subjects = rng.integers(entities, size=triplets)
    properties = np.minimum((PROPERTIES ** rng.random(triplets)).astype(np.int64), PROPERTIES) + 5
    frame = pl.DataFrame({"s": ids[subjects], "p": properties, "o": ids[objects]}).unique(maintain_order=False)
    frame = frame.sample(fraction=1.0, shuffle=True, seed=5)
    frame.select(pl.format("Q{}", "s"), pl.format("P{}", "p"), pl.format("Q{}", "o")).write_csv(
        folder / TRIPLET_FILE, include_header=False, separator="\t"
    )
    del frame, subjects, objects, properties, ranks
    _write_names(folder, ids, int(ALIASES * scale), rng)
    lines = "".join(f"P{p}\trelation {p}\tlink {p}\n" for p in range(1, PROPERTIES + 10))
    (folder / "wikidata5m_relation.txt").write_text(lines)
    (folder / "done").touch()


def _write_names(folder: Path, ids: np.ndarray[Any, Any], aliases: int, rng: np.random.Generator) -> None:
    letters = list("bcdfghklmnprstvw")
    vowels = ["a", "e", "i", "o", "u", "a", "e", "i", "o", "é", "ö", "ñ"]
    size = 40_000
    syllables = np.char.add(rng.choice(letters, (size, 3)), rng.choice(vowels, (size, 3), p=_vowel_weights()))
    words = np.char.add(
        np.char.add(syllables[:, 0], syllables[:, 1]), np.where(rng.random(size) < 0.6, syllables[:, 2], "")
    )
    vocabulary = pl.Series(np.char.capitalize(words).tolist())
    counts = np.bincount(rng.integers(len(ids), size=aliases), minlength=len(ids)) + 1
    owner = np.repeat(np.arange(len(ids)), counts)
    with (folder / ENTITY_FILE).open("wb") as file:
        step = 500_000
        for first in range(0, len(ids), step):
            rows = owner[np.searchsorted(owner, first) : np.searchsorted(owner, first + step)]
            # Few words are common, most are rare; one name in thirty is a single word, borne by dozens.
            picked = [vocabulary.gather((size * rng.random(len(rows)) ** 2).astype(np.int64)) for _ in range(3)]
            sizes = pl.Series(rng.choice(3, len(rows), p=[0.03, 0.42, 0.55]))
            frame = pl.DataFrame({"owner": rows, "a": picked[0], "b": picked[1], "c": picked[2], "size": sizes})
            two, three = pl.format("{} {}", "a", "b"), pl.format("{} {} {}", "a", "b", "c")
            frame = frame.with_columns(
                name=pl.when(pl.col("size") == 0).then("a").when(pl.col("size") == 1).then(two).otherwise(three)
            )
            lines = frame.group_by("owner", maintain_order=True).agg(pl.col("name").str.join("\t"))
            lines = lines.select(pl.format("Q{}\t{}", pl.Series(ids)[first : first + step], "name"))
            lines.write_csv(file, include_header=False, quote_style="never")


def _vowel_weights() -> list[float]:
    return [0.11] * 9 + [0.0033, 0.0033, 0.0034]


def run_measured(code: str, *args: str) -> tuple[float, float]:
    """Seconds and peak GiB of a Python snippet in a process of its own."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code + PEAK, *args], cwd=Path(__file__).resolve().parents[1], stdout=subprocess.PIPE,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"benchmark step failed: {code[:80]}")
    return time.perf_counter() - start, int(done.stdout) / 2**20


# The process's own high-water mark: the one in its resource usage starts at its parent's.
PEAK = """
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


INGEST = """
import sys
from pathlib import Path
from hopwright.knowledge.wikidata.ingest import ingest
ingest(Path(sys.argv[1]), Path(sys.argv[2]), force=True)
"""
FLOOR = f"""
import sys, polars as pl
folder = sys.argv[1]
frame = pl.scan_csv(
    folder + "/{TRIPLET_FILE}", separator="\\t", has_header=False, new_columns=list("spo"), quote_char=None
)
frame.select(pl.col(c).str.slice(1).cast(pl.UInt32) for c in "spo").collect(engine="streaming")
raw = open(folder + "/{ENTITY_FILE}", "rb").read()
raw.decode(); raw.count(b"\\t")
"""
OPEN = """
import sys, time
from pathlib import Path
from hopwright.knowledge.wikidata.store import GraphStore
def private():
    fields = dict(line.split(":") for line in open("/proc/self/smaps_rollup").read().splitlines()[1:])
    return sum(int(fields[name].split()[0]) for name in ("Private_Dirty", "Private_Clean")) / 1024
before = private()
start = time.perf_counter()
store = GraphStore.open(Path(sys.argv[1]))
store.label("Q17")
print(time.perf_counter() - start, private() - before, private())
"""
DUCK = f"""
import sys, duckdb
folder, target = sys.argv[1:]
db = duckdb.connect(target)
db.execute("SET preserve_insertion_order = false; SET memory_limit = '2500MB'")
db.execute("SET enable_progress_bar = false")
db.execute(f'''
    CREATE TABLE triplet AS
    SELECT substr(s, 2)::UINTEGER AS s, substr(p, 2)::USMALLINT AS p, substr(o, 2)::UINTEGER AS o
    FROM read_csv('{{folder}}/{TRIPLET_FILE}', delim='\\t', header=false, quote='',
                  columns={{{{'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR'}}}})
    ORDER BY s, p, o''')
db.execute(f'''
    CREATE TABLE name AS SELECT lower(name) AS key, id, place FROM (
      SELECT substr(parts[1], 2)::UINTEGER AS id, unnest(parts[2:]) AS name,
             generate_subscripts(parts[2:], 1) AS place
      FROM (SELECT string_split(line, '\\t') AS parts
            FROM read_csv('{{folder}}/{ENTITY_FILE}', delim='\\x01', header=false, quote='',
                          columns={{{{'line': 'VARCHAR'}}}})))
    ORDER BY key''')
db.execute('''
    CREATE TABLE degree AS SELECT id, count(*)::UINTEGER AS n
    FROM (SELECT s AS id FROM triplet UNION ALL SELECT o FROM triplet) GROUP BY id ORDER BY id''')
db.execute('''
    CREATE TABLE single AS SELECT s, p, any_value(o) AS o FROM triplet
    GROUP BY s, p HAVING count(*) = 1 ORDER BY s, p''')
db.close()
"""


def time_calls(call: Callable[[], Any], runs: int = 5) -> float:
    """Median seconds of warm calls."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(work: Path, scale: float, runs: int) -> dict[str, Any]:
    """All figures of one size."""
    from hopwright.knowledge.wikidata.store import GraphStore

    folder = work / f"corpus-{scale:g}"
    print(f"scale {scale:g}: writing the corpus …", file=sys.stderr)
    make_corpus(folder, scale)
    ours, theirs = work / f"store-{scale:g}", work / f"duck-{scale:g}.db"
    figures: dict[str, Any] = {"scale": scale}
    print(f"scale {scale:g}: ingest …", file=sys.stderr)
    run_measured(FLOOR, str(folder))  # warms the page cache for everyone
    floors, mine, peers = [], [], []
    for _ in range(runs):
        floors.append(run_measured(FLOOR, str(folder)))
        mine.append(run_measured(INGEST, str(folder), str(ours)))
        if find_spec("duckdb"):
            theirs.unlink(missing_ok=True)
            peers.append(run_measured(DUCK, str(folder), str(theirs)))
    figures["floor_s"] = statistics.median(one[0] for one in floors)
    figures["ingest_s"] = statistics.median(one[0] for one in mine)
    figures["ingest_peak_gib"] = max(one[1] for one in mine)
    if peers:
        figures["duckdb_ingest_s"] = statistics.median(one[0] for one in peers)
        figures["duckdb_ingest_peak_gib"] = max(one[1] for one in peers)
        figures["duckdb_bytes"] = theirs.stat().st_size
        figures["ingest_ratio"] = figures["duckdb_ingest_s"] / figures["ingest_s"]
    opened = [
        subprocess.run([sys.executable, "-c", OPEN, str(ours)], capture_output=True, text=True, check=True,
                       cwd=Path(__file__).resolve().parents[1]).stdout.split()
        for _ in range(3)
    ]  # fmt: skip
    figures["open_s"] = statistics.median(float(one[0]) for one in opened)
    figures["open_private_mib"] = statistics.median(float(one[1]) for one in opened)
    figures["process_private_mib"] = statistics.median(float(one[2]) for one in opened)

    print(f"scale {scale:g}: queries …", file=sys.stderr)
    store = GraphStore.open(ours)
    ids = store.array("entity_id")
    rng = np.random.default_rng(3)
    chosen = [f"Q{id}" for id in ids[rng.integers(len(ids), size=NAMES)].tolist()]
    names = [(store.label(id), *store.aliases(id)) for id in chosen]
    asked = [one[k % len(one)] for k, one in enumerate(names)]
    asked = [name.upper() if k % 5 == 0 else name for k, name in enumerate(asked)]
    asked[::50] = [f"{name} nowhere" for name in asked[::50]]
    roots = [f"Q{id}" for id in ids[rng.integers(len(ids), size=ROOTS)].tolist()]
    figures["link_s"] = time_calls(lambda: [store.find(name) for name in asked])
    figures["neighbourhoods_s"] = time_calls(lambda: [(store.out_edges(id), store.in_edges(id)) for id in roots])
    figures["bytes"] = store.bytes
    figures["triplets"] = store.about["counts"]["triplets"]
    return figures


def render(all_figures: list[dict[str, Any]]) -> str:
    """A table of sizes, and whether the targets hold at full size."""
    rows = [
        ("triplets", "triplets", "{:,.0f}"),
        ("on disk, MiB", "bytes", "{:,.0f}"),
        ("  DuckDB", "duckdb_bytes", "{:,.0f}"),
        ("bare parse, s", "floor_s", "{:.2f}"),
        ("ingest, s", "ingest_s", "{:.2f}"),
        ("  DuckDB", "duckdb_ingest_s", "{:.2f}"),
        ("ingest peak, GiB", "ingest_peak_gib", "{:.2f}"),
        ("  DuckDB", "duckdb_ingest_peak_gib", "{:.2f}"),
        ("open, s", "open_s", "{:.4f}"),
        ("  private memory, MiB", "open_private_mib", "{:.1f}"),
        ("  of the process", "process_private_mib", "{:.1f}"),
        ("link 20,000 names, s", "link_s", "{:.3f}"),
        ("20,000 neighbourhoods, s", "neighbourhoods_s", "{:.4f}"),
    ]
    lines = [f"{'':<26}" + "".join(f"{one['scale']:>14.0%}" for one in all_figures)]
    for label, key, form in rows:
        if key not in all_figures[0]:
            continue  # DuckDB is not installed
        values = [one[key] / 2**20 if "bytes" in key else one[key] for one in all_figures]
        lines.append(f"{label:<26}" + "".join(f"{form.format(value):>14}" for value in values))
    full = all_figures[-1]
    if full["scale"] >= 1:
        verdicts = [f"{key} {full[key]:.3g} ≤ {most:g}: {full[key] <= most}" for key, most in TARGETS.items()]
        if "ingest_ratio" in full:
            verdicts.append(f"ingest ratio {full['ingest_ratio']:.1f} ≥ 1: {full['ingest_ratio'] >= 1}")
        lines += ["", *verdicts]
    return "\n".join(lines)


def main() -> None:
    """Run the sizes asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, action="append", help="share of Wikidata5M's size (repeatable)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each ingest")
    parser.add_argument("--work", type=Path, help="folder to keep corpora and stores in (default: a temporary one)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    work = options.work or Path(tempfile.mkdtemp(prefix="hopwright-bench-"))
    try:
        figures = [measure(work, scale, options.runs) for scale in sorted(options.scale or [0.01, 0.1, 1.0])]
    finally:
        if options.work is None:
            shutil.rmtree(work, ignore_errors=True)
    print(json.dumps(figures, indent=1) if options.json else render(figures))


if __name__ == "__main__":
    main()
