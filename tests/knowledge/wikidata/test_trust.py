"""trust.toml: every property of the table is judged, the judgements do not contradict each other, and what follows."""

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.trust import list_first_only, list_implications, load_trust

TRUST = load_trust()


def test_every_property_of_the_table_is_judged() -> None:
    table = default_table()
    assert not (table.entity.keys() | table.literal.keys()) - TRUST.keys()


def test_inverses_are_mutual() -> None:
    for property, entry in TRUST.items():
        for other in entry.inverse:
            assert other not in TRUST or property in TRUST[other].inverse, (property, other)
        assert not (entry.symmetric and entry.inverse), property


def test_what_stands_both_ways_is_known_to_be_symmetric() -> None:
    for property, entry in TRUST.items():
        if entry.both_ways > 0.2:
            assert entry.symmetric, property


def test_what_has_one_value_seldom_has_several() -> None:
    for property, entry in TRUST.items():
        if not entry.many_valued and entry.facts >= 10:
            assert entry.several <= 0.15, property


def test_only_what_says_exactly_the_same_follows() -> None:
    implied = set(list_implications())
    assert {("P47", "P47"), ("P26", "P26"), ("P36", "P1376"), ("P1376", "P36"), ("P527", "P361")} <= implied
    assert {("P22", "P40"), ("P25", "P40"), ("P150", "P131"), ("P155", "P156"), ("P355", "P749")} <= implied
    # A child has a father or a mother; a building in a city is no division of it; not every work is a notable one.
    assert implied.isdisjoint({("P40", "P22"), ("P40", "P25"), ("P131", "P150"), ("P50", "P800"), ("P800", "P50")})


def test_values_that_change_are_compared_at_a_distance() -> None:
    table = default_table()
    for property, entry in table.literal.items():
        if TRUST[property].dated and entry.value == "number":
            assert table.margin(property) >= entry.margin and table.margin(property) * 5 >= 1
    assert table.is_settled("P571", "Q262", "country") and not table.is_settled("P571", "Q183", "country")
    assert table.is_settled("P571", "Q9617", "team")


def test_lists_of_former_values_add_none_beside_todays() -> None:
    assert ("P1376", "P36") in list_first_only() <= set(list_implications())
    # What follows and precedes, and what lies in what, is one fact seen from both ends.
    assert list_first_only().isdisjoint({("P36", "P1376"), ("P155", "P156"), ("P156", "P155"), ("P150", "P131")})
