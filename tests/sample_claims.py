"""A small bank of true claims with their sources, items that rest on them, and claims of any kind for laws."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.target_distribution import TargetDistribution
from hopwright.records import Claim, Item, make_claim
from hopwright.stages.drafting import Synthesizer
from tests.drafts import draft_once

TOPOLOGIES = ("chain", "chain-3", "bridge")


def write_claim(statement: str, phrase: str, value: str, title: str, url: str, *names: str, unit: str = "") -> Claim:
    """A claim of a person."""
    return make_claim(
        statement=statement, phrase=phrase, value=value, unit=unit, source_title=title, source_url=url, names=names,
        author="person",
    )  # fmt: skip


APOLLO = write_claim(
    "Six Apollo missions landed people on the Moon.", "the number of Apollo missions that landed people on the Moon",
    "6", "NASA: The Apollo Program", "https://www.nasa.gov/the-apollo-program/", "Apollo", "Moon",
)  # fmt: skip
BANK = (
    APOLLO,
    write_claim("A standard chessboard has 64 squares.", "the number of squares on a standard chessboard", "64",
                "Encyclopaedia Britannica: chess", "https://www.britannica.com/topic/chess"),
    write_claim("A modern piano has 88 keys.", "the number of keys on a standard modern piano", "88",
                "Encyclopaedia Britannica: piano", "https://www.britannica.com/art/piano"),
    write_claim("A violin has four strings.", "the number of strings on a violin", "4",
                "Encyclopaedia Britannica: violin", "https://www.britannica.com/art/violin"),
    write_claim("A regular dodecahedron has twelve faces.", "the number of faces of a regular dodecahedron", "12",
                "Wolfram MathWorld: Regular Dodecahedron", "https://mathworld.wolfram.com/RegularDodecahedron.html"),
    write_claim("A traditional haiku has seventeen syllables.", "the number of syllables in a traditional haiku", "17",
                "Encyclopaedia Britannica: haiku", "https://www.britannica.com/art/haiku"),
    write_claim("A sonnet has 14 lines.", "the number of lines in a sonnet", "14",
                "Encyclopaedia Britannica: sonnet", "https://www.britannica.com/art/sonnet"),
    write_claim("A baseball team has nine players on the field.",
                "the number of players of a baseball team on the field", "9", "Encyclopaedia Britannica: baseball", "https://www.britannica.com/sports/baseball"),
    write_claim("The Hundred Years' War lasted 116 years.", "the number of years that the Hundred Years' War lasted",
                "116", "Encyclopaedia Britannica: Hundred Years' War",
                "https://www.britannica.com/event/Hundred-Years-War", "Hundred Years' War", unit="years"),
)  # fmt: skip


@functools.cache
def draft_claimed_items(graph: GraphStore, slots: int = 60, share: float = 1.0, seed: int = 4) -> tuple[Item, ...]:
    """The different checked items of so many slots, each of which may rest on a claim."""
    return draft_once(graph, f"claims-{slots}-{share:g}-{seed}", lambda: _draft_claimed(graph, slots, share, seed))


def _draft_claimed(graph: GraphStore, slots: int, share: float, seed: int) -> tuple[Item, ...]:
    mix = TargetDistribution(dict.fromkeys(TOPOLOGIES, 1.0), claim_share=share)
    items, _ = Synthesizer(graph, default_table(), seed=seed, distribution=mix, claims=BANK).draft((), 0, slots)
    return tuple({item.id: item for item in items}.values())


def pick_claimed(graph: GraphStore) -> list[Item]:
    """Those of them that do."""
    return [item for item in draft_claimed_items(graph) if any(hop.evidence.claims for hop in item.hops)]


_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@st.composite
def any_claim(draw: st.DrawFn) -> Claim:
    """Whatever the record lets in; sealed, but not fit for use."""
    whole = draw(st.integers(0, 10**9))
    decimals = draw(st.sampled_from(["", ".5", ".25", ".001"]))
    return make_claim(
        statement="a statement: " + draw(_TEXT), phrase="the phrase " + draw(_TEXT), value=f"{whole:,}{decimals}",
        unit=draw(st.sampled_from(["", "years", "metres"])), source_title="a title" + draw(_TEXT),
        source_url="https://example.org/" + draw(st.text("abc/?=", max_size=20)),
        names=draw(st.lists(st.text(min_size=1, max_size=20), max_size=3)),
        author=draw(st.sampled_from(["model", "person"])), model=draw(st.sampled_from(["", "openai/some"])),
    )  # fmt: skip


st.register_type_strategy(Claim, any_claim())
