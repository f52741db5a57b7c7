"""Statistics of a corpus's properties, as tab-separated lines: `python scripts/property_statistics.py data/sample`.

Per property: facts, subjects, objects, the share of subjects with several values, the share of facts that also stand
the other way round, and the property that most often states the same pair reversed, with its share. Then the usable
facts per domain.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.domains import DomainIndex


def tell_properties(graph: GraphStore) -> None:
    """One line per property between entities."""
    say = sys.stdout.write
    table = default_table()
    say("property\tlabel\tin table\tfacts\tsubjects\tobjects\tseveral values\tboth ways\treversed by\n")
    edges = {property: graph.edges(property) for property in graph.properties()}
    reverse: dict[tuple[str, str], list[str]] = defaultdict(list)
    for property, pairs in edges.items():
        for pair in pairs:
            reverse[pair].append(property)
    for property, pairs in sorted(edges.items(), key=lambda one: -len(one[1])):
        if not pairs:
            continue
        subjects = Counter(subject for subject, _ in pairs)
        back = Counter(other for s, o in pairs if s != o for other in reverse.get((o, s), ()))
        both = back.pop(property, 0) / len(pairs)
        ((inverse, count),) = back.most_common(1) or [("", 0)]
        share = f"{inverse} {count / len(pairs):.2f}" if count / len(pairs) > 0.02 else ""
        several = sum(count > 1 for count in subjects.values()) / len(subjects)
        objects = len({o for _, o in pairs})
        known = "yes" if property in table.entity else ""
        say(
            f"{property}\t{graph.property_label(property)}\t{known}\t{len(pairs)}\t{len(subjects)}\t{objects}\t"
            f"{several:.2f}\t{both:.2f}\t{share}\n"
        )


def tell_domains(graph: GraphStore) -> None:
    """Facts per domain whose property can be worded and whose ends fit it."""
    table = default_table()
    kinds = KindIndex(graph)
    domains = DomainIndex(table, kinds)
    facts: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    literals: Counter[str] = Counter()
    for property, entry in table.entity.items():
        for subject, object in graph.edges(property) if property in graph.properties() else ():
            if kinds.kind(subject) in entry.subject and kinds.kind(object) in entry.object:
                domain = domains.of_fact(property, subject).domain
                facts[domain] += 1
                one = entry.lookup and (not entry.lookup_of or kinds.kind(subject) in entry.lookup_of)
                asked[domain] += one and len(graph.objects(subject, property)) == 1
    for property, value in table.literal.items():
        for subject in graph.literal_subjects(property):
            if kinds.kind(subject) in value.subject:
                literals[domains.of_fact(property, subject).domain] += 1
    sys.stdout.write("domain\tfacts\tthat may be asked for\tliterals\n")
    for name in sorted(facts | literals):
        sys.stdout.write(f"{name}\t{facts[name]}\t{asked[name]}\t{literals[name]}\n")


def main(corpus: Path) -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        ingest(corpus, Path(folder) / "store")
        graph = GraphStore.open(Path(folder) / "store")
        tell_properties(graph)
        tell_domains(graph)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
