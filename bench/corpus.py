"""A corpus of passages: adding it, indexing it, searching it; beside bm25s on the same texts, if that is installed.

    python bench/corpus.py --passages FILE                 a million passages made of the sentences of real ones
    python bench/corpus.py --passages FILE --count 50000   a quick look
    python bench/corpus.py --peer off --json

FILE holds {title, text} in JSON lines; without one, sentences are drawn from invented words whose frequencies follow
Zipf's law. Every step runs in a process of its own. Its memory is that of all its processes together at the highest of
five looks a second, with a shared page counted once; so are the pages of mapped files that they have touched.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_WORDS = 85
"""Words of a passage, about those of Wikipedia's passages of 100 words with their last sentence left out."""
_QUERIES = 500
_MOST = 10


def main() -> None:
    """Run the steps one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=Path, help="JSON lines of {title, text} to take sentences from")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--near-duplicates", type=float, default=0.9)
    parser.add_argument("--peer", choices=["bm25s", "off"], default="bm25s")
    parser.add_argument("--work", type=Path, help="folder for the files; a temporary one otherwise")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", choices=list(STEPS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(STEPS[options.step](options)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        options.work = options.work or Path(temporary)
        options.work.mkdir(parents=True, exist_ok=True)
        write_passages(options)
        steps = [step for step in STEPS if options.peer == "bm25s" or not step.startswith("bm25s")]
        for step in steps:
            figures = run_step(step, options)
            line = ", ".join(f"{key} {value}" for key, value in figures.items())
            print(json.dumps({"step": step, **figures}) if options.json else f"{step}: {line}", flush=True)


def write_passages(options: argparse.Namespace) -> None:
    """Write the passages and the queries, unless they are there: random sentences, put together to one length."""
    path = options.work / "passages.jsonl"
    if path.exists():
        return
    draw = random.Random(7)
    sentences = list(read_sentences(options.passages)) if options.passages else invent_sentences(draw)
    with path.open("w", encoding="utf-8") as file:
        for number in range(options.count):
            chosen, words = [], 0
            while words < _WORDS:
                chosen.append(draw.choice(sentences))
                words += chosen[-1].count(" ") + 1
            title = " ".join(chosen[0].split()[:4])
            row = {"id": str(number), "title": f"{title} {number}", "text": " ".join(chosen)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    queries = [" ".join(draw.choice(sentences).split()[:12]) for _ in range(_QUERIES)]
    (options.work / "queries.json").write_text(json.dumps(queries), "utf-8")


def read_sentences(path: Path) -> Iterator[str]:
    """The sentences of real passages, those of 6 to 60 words."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            for sentence in _SENTENCE.split(json.loads(line)["text"]):
                if 6 <= sentence.count(" ") + 1 <= 60:
                    yield sentence


def invent_sentences(draw: random.Random) -> list[str]:
    """Sentences of invented words, the n-th most common of which is drawn in proportion to 1/n."""
    letters, vowels = "bcdfghklmnprstvw", "aeiou"
    syllables = [consonant + vowel for consonant in letters for vowel in vowels]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(80_000)]
    weights = [1 / (place + 1) for place in range(len(words))]
    return [" ".join(draw.choices(words, weights, k=20)).capitalize() + "." for _ in range(40_000)]


def run_step(step: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run a step in a process of its own; its figures, with its seconds of wall and processor time and its memory."""
    command = [sys.executable, __file__, "--step", step, "--work", str(options.work)]
    command += ["--workers", str(options.workers), "--near-duplicates", str(options.near_duplicates)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    most = 0
    while process.poll() is None:
        most = max(most, sum(map(read_memory, list_processes(process.pid))))
        time.sleep(0.2)
    assert process.stdout is not None
    if process.returncode:
        raise SystemExit(process.returncode)
    return {**json.loads(process.stdout.read().splitlines()[-1]), "memory_mib": most >> 10}


def list_processes(pid: int) -> list[int]:
    """A process and all that it has started, directly or not, as Linux knows them."""
    found = [pid]
    for one in found:
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += map(int, path.read_text().split())
    return found


def read_memory(pid: int) -> int:
    """The proportional set size of a process in KiB; 0 for one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def measure(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Figures of some work: its wall time and the processor time of all its processes, in seconds."""
    began = time.perf_counter()
    figures = work()
    wall = time.perf_counter() - began
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in (own, others))
    return {"wall_s": round(wall, 1), "cpu_s": round(cpu, 1), **figures}


def add(options: argparse.Namespace) -> dict[str, Any]:
    """Read the passages into a corpus."""
    from hopwright.knowledge.documents.adding import add_source
    from hopwright.settings import CorpusAddParameters

    parameters = CorpusAddParameters(near_duplicates=options.near_duplicates, passage_words=0)

    def work() -> dict[str, Any]:
        report = add_source(options.work / "passages.jsonl", options.work / "corpus", parameters)
        size = sum(path.stat().st_size for path in (options.work / "corpus").glob("*.arrow"))
        return {"passages": report.passages, "left_out": report.counts.found - report.counts.added, "mib": size >> 20}

    return measure(work)


def index(options: argparse.Namespace) -> dict[str, Any]:
    """Index the corpus."""
    from hopwright.knowledge.documents.index import build_index
    from hopwright.settings import CorpusIndexParameters

    parameters = CorpusIndexParameters(workers=options.workers)

    def work() -> dict[str, Any]:
        report = build_index(options.work / "corpus", parameters)
        return {"shards": report.shards, "terms": report.terms, "mib": report.bytes >> 20}

    return measure(work)


def search(options: argparse.Namespace) -> dict[str, Any]:
    """Search, one query at a time."""
    from hopwright.knowledge.documents.index import Retriever

    queries = json.loads((options.work / "queries.json").read_text("utf-8"))

    def work() -> dict[str, Any]:
        began = time.perf_counter()
        retriever = Retriever.open(options.work / "corpus")
        opened = time.perf_counter()
        times = []
        for query in queries:
            start = time.perf_counter()
            retriever.search(query, _MOST)
            times.append(1000 * (time.perf_counter() - start))
        return {"open_s": round(opened - began, 2), **describe_times(times)}

    return measure(work)


def bm25s_index(options: argparse.Namespace) -> dict[str, Any]:
    """bm25s on the same texts, with the same stemmer."""
    try:
        import bm25s
        import Stemmer
        from bm25s.tokenization import Tokenizer
    except ImportError:
        return {"skipped": "bm25s and PyStemmer are not installed"}

    def work() -> dict[str, Any]:
        tokenizer = Tokenizer(stemmer=Stemmer.Stemmer("english"), stopwords="english")
        with (options.work / "passages.jsonl").open(encoding="utf-8") as lines:
            texts = [f"{row['title']}\n{row['text']}" for row in map(json.loads, lines)]
        tokens = tokenizer.tokenize(texts, return_as="tuple", show_progress=False)
        del texts
        model = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        model.index(tokens, show_progress=False)
        model.save(options.work / "bm25s")
        tokenizer.save_vocab(options.work / "bm25s")
        size = sum(path.stat().st_size for path in (options.work / "bm25s").iterdir())
        return {"mib": size >> 20}

    return measure(work)


def bm25s_search(options: argparse.Namespace) -> dict[str, Any]:
    """bm25s, one query at a time, its arrays mapped into memory as ours are."""
    try:
        import bm25s
        import Stemmer
        from bm25s.tokenization import Tokenizer
    except ImportError:
        return {"skipped": "bm25s and PyStemmer are not installed"}
    queries = json.loads((options.work / "queries.json").read_text("utf-8"))

    def work() -> dict[str, Any]:
        began = time.perf_counter()
        model = bm25s.BM25.load(options.work / "bm25s", mmap=True)
        tokenizer = Tokenizer(stemmer=Stemmer.Stemmer("english"), stopwords="english")
        tokenizer.load_vocab(options.work / "bm25s")
        opened = time.perf_counter()
        times = []
        for query in queries:
            start = time.perf_counter()
            tokens = tokenizer.tokenize([query], update_vocab=False, show_progress=False)
            model.retrieve(tokens, k=_MOST, show_progress=False)
            times.append(1000 * (time.perf_counter() - start))
        return {"open_s": round(opened - began, 2), **describe_times(times)}

    return measure(work)


def describe_times(times: list[float]) -> dict[str, float]:
    """Median, 95th and 99th percentile of some milliseconds."""
    ordered = sorted(times)
    return {
        "median_ms": round(ordered[len(ordered) // 2], 1),
        "p95_ms": round(ordered[int(0.95 * len(ordered))], 1),
        "p99_ms": round(ordered[int(0.99 * len(ordered))], 1),
    }


STEPS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "add": add,
    "index": index,
    "search": search,
    "bm25s-index": bm25s_index,
    "bm25s-search": bm25s_search,
}

if __name__ == "__main__":
    main()
