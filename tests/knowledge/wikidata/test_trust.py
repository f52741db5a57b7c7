"""trust.toml: every property of the table is judged, the judgements do not contradict each other, and what follows."""

from collections import Counter, defaultdict

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.knowledge.wikidata.trust import FIRST_ONLY, list_implications, load_trust

TRUST = load_trust()
# Facts that mostly stand the other way round by another property, which says more than they do.
ENTAILED = {("P2881", "P1344")}  # who was promoted took part in the season, as did all others


def test_every_property_of_the_table_is_judged() -> None:
    table = default_table()
    own = {property for property, entry in table.literal.items() if entry.timeline or entry.series}  # not Wikidata's
    own |= {property for property, entry in table.entity.items() if entry.series}
    assert not (table.entity.keys() | table.literal.keys()) - TRUST.keys() - own
    assert own.isdisjoint(TRUST)


def test_inverses_are_mutual() -> None:
    for property, entry in TRUST.items():
        for other in entry.inverse:
            assert other not in TRUST or property in TRUST[other].inverse, (property, other)
        assert not (entry.symmetric and entry.inverse), property


def test_what_stands_both_ways_is_known_to_follow(sample: GraphStore) -> None:
    """Of the sample's facts: what is mostly recorded twice is symmetric, or one of two inverse properties."""
    reverse: dict[tuple[str, str], set[str]] = defaultdict(set)
    for property in sample.properties():
        for subject, object in sample.edges(property):
            reverse[object, subject].add(property)
    looked_at = 0
    for property in TRUST.keys() & set(sample.properties()):
        edges = [(subject, object) for subject, object in sample.edges(property) if subject != object]
        back = Counter(other for edge in edges for other in reverse[edge])
        for other, count in back.items():
            if len(edges) >= 20 and count > (0.2 if other == property else 0.8) * len(edges):
                looked_at += 1
                known = TRUST[property].symmetric if other == property else other in TRUST[property].inverse
                known |= property in default_table().lists  # a composer's operas are by that composer
                assert known or (property, other) in ENTAILED, (property, other, count / len(edges))
    assert looked_at > 5


def test_only_what_says_exactly_the_same_follows() -> None:
    implied = set(list_implications())
    assert {("P47", "P47"), ("P26", "P26"), ("P36", "P1376"), ("P1376", "P36"), ("P527", "P361")} <= implied
    assert {("P22", "P40"), ("P25", "P40"), ("P150", "P131"), ("P155", "P156"), ("P355", "P749")} <= implied
    # A child has a father or a mother; a building in a city is no division of it; not every work is a notable one.
    assert implied.isdisjoint({("P40", "P22"), ("P40", "P25"), ("P131", "P150"), ("P50", "P800"), ("P800", "P50")})


def test_values_that_change_are_compared_at_a_distance() -> None:
    table = default_table()
    for property, entry in table.literal.items():
        if entry.value == "number" and not entry.series and TRUST[property].dated:
            assert table.margin(property) >= entry.margin and table.margin(property) * 5 >= 1
    assert table.is_settled("P571", "Q262", "country") and not table.is_settled("P571", "Q183", "country")
    assert table.is_settled("P571", "Q9617", "team")


def test_lists_of_former_values_add_none_beside_todays() -> None:
    assert ("P1376", "P36") in FIRST_ONLY <= set(list_implications())
    # What follows and precedes, and what lies in what, is one fact seen from both ends.
    assert FIRST_ONLY.isdisjoint({("P36", "P1376"), ("P155", "P156"), ("P156", "P155"), ("P150", "P131")})
