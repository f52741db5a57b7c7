from __future__ import annotations

from hopwright.knowledge.wikidata.own_ids import is_own_id
from hopwright.knowledge.wikidata.store import GraphStore


def test_only_the_range_of_our_own_is_ours() -> None:
    assert [is_own_id(id) for id in ("Q3000000000", "Q3449648901", "Q3999999999")] == [True] * 3
    others = ("Q2999999999", "Q4000000000", "Q42", "QX3_adac3e80e4", "P3449648901", "", "Q", "Q-3449648901")
    assert not any(map(is_own_id, others))


def test_no_page_is_named_for_an_id_of_our_own(sample: GraphStore) -> None:
    assert sample.page_url("Q3449648901") == ""
    assert sample.page_url("Q42").endswith("/Q42")
