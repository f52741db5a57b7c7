"""Counterfactual twins: items and passages a second, memory, and what back-translation changes.

    python bench/counterfactual.py [--items 10000] [--passages FILE] [--translate 1000] [--store STORE]

Twins: items of the shipped sample, with passages, twins made and checked, on every processor; the floor is reading and
writing the same items as Parquet. Memory is the resident size of one worker after a tenth, a half and all of its
items. Passages: a file of `{title, text}`, rewritten with the names that a graph store knows; what is left of them is
counted. `--translate` sends so many of these passages, rewritten, through Apertium.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import re
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.counterfactual.back_translation import ApertiumBackTranslator, split_text
from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.meaning import MiniLmSimilarity
from hopwright.counterfactual.passage_rewriting import PassageRewriter
from hopwright.counterfactual.rewording_checks import MaskedText, accept_known_paraphrases, mask
from hopwright.counterfactual.rewriting import TwinServices, finish_twins
from hopwright.knowledge.documents.corpus import CorpusPassage, read_corpus
from hopwright.knowledge.wikidata.anchors import link_anchors, read_anchor_questions
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item, Rejected
from hopwright.records.arrow import encode_parquet, items_to_table, read_items
from hopwright.stages.drafting import Synthesizer
from hopwright.stages.workers import prepare_worker
from hopwright.text.embeddings import find_obstacle
from hopwright.text.mentions import replace_names
from tests.counterfactual.leftovers import find_left

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample"
SHARD = 250
_EXAMPLES = 10


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000, help="twins to make; 0 makes none")
    parser.add_argument("--distinct", type=int, default=500, help="how many different items are drawn first")
    parser.add_argument("--passages", type=Path, default=None)
    parser.add_argument("--translate", type=int, default=0)
    parser.add_argument("--store", type=Path, default=None, help="graph store for the passages; the sample's otherwise")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        ingest(SAMPLE, store)
        if options.items:
            measure_twins(store, Path(folder), options.items, options.distinct)
        if options.passages is not None:
            measure_passages(options.store or store, read_corpus(options.passages), options.runs, options.translate)


def measure_twins(store: Path, folder: Path, wanted: int, distinct: int) -> None:
    """Draw items, then make twins of them again and again under different ids until there are enough."""
    items = draw_items(GraphStore.open(store), distinct)
    parts = []
    for number, start in enumerate(range(0, wanted, SHARD)):
        # Another id, other names: every twin is work of its own.
        shard = [
            items[(start + row) % len(items)].model_copy(update={"id": f"hw-{start + row:016x}"})
            for row in range(min(SHARD, wanted - start))
        ]
        part = folder / f"part-{number:05d}.parquet"
        part.write_bytes(encode_parquet(items_to_table(shard)))
        parts.append(part)
    began = time.monotonic()
    for part in parts[:4]:
        encode_parquet(items_to_table(read_items(part)))
    floor = (time.monotonic() - began) / sum(1 for _ in parts[:4]) * len(parts)
    processors = len(os.sched_getaffinity(0))
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with multiprocessing.get_context("spawn").Pool(processors, prepare_worker) as pool:
        results = pool.starmap(make_part, [(store, part) for part in parts], chunksize=1)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    made, rejected = sum(one[0] for one in results), sum(one[1] for one in results)
    print(f"{made:,} twins, {rejected:,} rejected, {processors} processors: {seconds:.1f} s wall, {spent:.1f} s of CPU")
    print(f"  {made / seconds:.0f} twins/s; reading and writing the same items alone: {floor:.1f} s on one core")
    memory = [one[2] for one in results]
    marks = {share: statistics.median(memory[: max(1, int(len(memory) * share))][-2:]) for share in (0.1, 0.5, 1.0)}
    print("  resident MiB of a worker after a tenth, a half, all:", ", ".join(f"{m:.0f}" for m in marks.values()))


def make_part(store: Path, part: Path) -> tuple[int, int, float]:
    """Passages, twins and checks of one part: (twins, rejected, resident MiB)."""
    workshop = open_workshop(store)
    items = [one.item for one in workshop.make_passage_builder().build_passages(read_items(part))]
    made, rejected = workshop.make_twins(items)
    finished = finish_twins(workshop, made, None)
    encode_parquet(items_to_table(finished.twins))
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(finished.twins), len(rejected) + len(finished.rejected), pages * resource.getpagesize() / 2**20


_open: dict[Path, TwinServices] = {}


def open_workshop(store: Path) -> TwinServices:
    """One workshop per process."""
    if store not in _open:
        graph = GraphStore.open(store)
        _open[store] = TwinServices(graph, KindIndex(graph), default_table(), seed=0)
    return _open[store]


def draw_items(graph: GraphStore, wanted: int) -> list[Item]:
    """Different items of the sample."""
    questions = [one for one in read_anchor_questions(SAMPLE / "anchors.jsonl") if not isinstance(one, Rejected)]
    anchors, _ = link_anchors(questions, graph)
    synthesizer = Synthesizer(graph, default_table(), seed=0)
    found: dict[str, Item] = {}
    for start in range(0, 100 * wanted, SHARD):
        items, _ = synthesizer.draft(anchors, start, SHARD)
        found.update((item.id, item) for item in items)
        if len(found) >= wanted:
            break
    return list(found.values())[:wanted]


def measure_passages(store: Path, passages: Sequence[CorpusPassage], runs: int, translate: int) -> None:
    """Rewrite all passages, with and without the names that the graph does not know, and search what is left."""
    graph = GraphStore.open(store)
    names = GraphNames(KindIndex(graph))
    rates = []
    for run in range(runs):
        rewriter = PassageRewriter(graph, names, seed=run)
        began = time.process_time()
        for number, passage in enumerate(passages):
            with contextlib.suppress(TwinError):
                rewriter.rewrite(passage.title, passage.text, key=str(number), unknown=False, years=False)
        rates.append(len(passages) / (time.process_time() - began))
    print(f"{len(passages):,} passages: median {statistics.median(rates):.0f} a second of CPU ({runs} runs)")
    for unknown in (False, True):
        found = dict(count_left(graph, names, passages, unknown))
        print(f"  {'all names' if unknown else 'names that the graph knows'}: {found}")
    if translate:
        translate_passages(graph, names, passages[:translate])


def count_left(graph: GraphStore, names: GraphNames, passages: Sequence[CorpusPassage], unknown: bool) -> Counter[str]:
    """What rewriting left of the names that it replaced, and whether anything else changed."""
    rewriter = PassageRewriter(graph, names, seed=0)
    figures = Counter[str]()
    for number, passage in enumerate(passages):
        members = rewriter.gather(passage.title, passage.text, unknown=unknown)
        figures["entities"] += len(members)
        try:
            done = rewriter.rewrite(passage.title, passage.text, key=str(number), names=members, years=False)
        except TwinError:
            figures["passages refused"] += 1
            continue
        figures["mentions left"] += len(find_left([done.title, done.text], members, graph, done.forms))
        back = dict.fromkeys(done.forms.values(), "\x00")
        one = replace_names([passage.text], dict.fromkeys(done.forms, "\x00"))[0] if done.forms else passage.text
        other = replace_names([done.text], back)[0] if back else done.text
        figures["passages in which anything else changed"] += _plain(one) != _plain(other)
    return figures


def translate_passages(graph: GraphStore, names: GraphNames, passages: Sequence[CorpusPassage]) -> None:
    """Rewritten passages through Apertium: masks, gates, overlap."""
    translator = ApertiumBackTranslator()
    if obstacle := translator.find_obstacle():
        print(f"  back-translation skipped: {obstacle}")
        return
    rewriter = PassageRewriter(graph, names, seed=0)
    masked: list[MaskedText] = []
    owners: list[int] = []
    for number, passage in enumerate(passages):
        try:
            done = rewriter.rewrite(passage.title, passage.text, key=str(number))
            names_there = [one.surrogate for one in done.world]
            pieces = [mask(piece, names_there) for piece in split_text(done.text)]
        except (TwinError, ValueError) as error:
            print(f"  passage {number}: {str(error)[:80]}")
            continue
        masked += pieces
        owners += [number] * len(pieces)
    began = time.monotonic()
    back = translator.translate([one.text for one in masked])
    seconds = time.monotonic() - began
    results = [accept_known_paraphrases(one, returned.text) for one, returned in zip(masked, back, strict=True)]
    reworded = [one for one in results if not one.reason]
    touched = {owner for owner, one in zip(owners, results, strict=True) if not one.reason}
    masks, restored = sum(one.masks for one in results), sum(one.restored for one in results)
    print(
        f"  Apertium: {len(set(owners)):,} passages, {len(results):,} pieces, in {seconds:.1f} s; "
        f"{restored:,} of {masks:,} masks came back once each"
    )
    why = Counter(re.sub(r"'.*?'|\d+", "…", one.reason)[:60] for one in results if one.reason)
    print(f"  {len(reworded):,} reworded ({len(reworded) / max(1, len(results)):.1%}); why not: {why.most_common(4)}")
    print(f"  passages with a reworded piece: {len(touched):,}")
    pairs = [(one.original, two.text) for one, two in zip(masked, results, strict=True) if not two.reason]
    if pairs:
        print("  overlap (least, quartiles, most):", _spread([one.overlap for one in reworded]))
        if obstacle := find_obstacle():
            print(f"  similarity not measured: {obstacle}")
        else:
            print("  similarity (the same):", _spread(MiniLmSimilarity().measure(pairs)))
    for one, other in pairs[:: max(1, len(pairs) // _EXAMPLES)][:_EXAMPLES]:
        print(f"    {one}\n  → {other}")


def _spread(values: Sequence[float]) -> str:
    """The least, the quartiles and the most."""
    ordered = sorted(values)
    return ", ".join(f"{ordered[int(share * (len(ordered) - 1))]:.3f}" for share in (0, 0.25, 0.5, 0.75, 1))


def _plain(text: str) -> str:
    """A text without what follows the sound of a new name: indefinite articles, and how its possessive is written."""
    text = text.replace("\x00's", "\x00").replace("\x00'", "\x00")
    return " ".join(word for word in text.split() if word.lower() not in ("a", "an"))


if __name__ == "__main__":
    main()
