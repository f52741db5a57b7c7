from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hopwright.records import Claim, Item, arrow, claim_id, make_claim
from hopwright.release.format import from_release, to_release
from tests.builders import all_items, chain_item
from tests.sample_claims import APOLLO, any_claim

CONTENT = ("statement", "phrase", "value", "unit", "source_title", "source_url", "names")


def carry(item: Item, *claims: Claim) -> Item:
    last = item.hops[-1]
    evidence = last.evidence.replace(claims=claims)
    return item.model_copy(update={"hops": (*item.hops[:-1], last.model_copy(update={"evidence": evidence}))})


@given(any_claim(), st.sampled_from(CONTENT))
def test_the_id_is_that_of_the_content_and_every_change_shows(claim: Claim, field: str) -> None:
    assert claim.sealed
    assert claim.id == claim_id(claim.model_dump()) == claim_id(claim.model_dump(mode="json"))
    other = (*claim.names, "Z") if field == "names" else f"{getattr(claim, field)}9"
    assert not claim.model_copy(update={field: other}).sealed


@given(any_claim(), st.sampled_from(["model", "model_version", "request_key"]))
def test_who_made_a_claim_does_not_change_what_it_says(claim: Claim, field: str) -> None:
    assert claim.model_copy(update={field: "another"}).sealed


@given(any_claim())
def test_an_id_holds_nothing_that_could_be_read_as_a_number_or_an_entity(claim: Claim) -> None:
    assert claim.id.startswith("cl-") and claim.id[3:].isalpha() and claim.id.islower()


@given(st.lists(any_claim(), max_size=3))
def test_claims_come_back_from_arrow_and_from_a_release_as_they_went(claims: list[Claim]) -> None:
    item = carry(chain_item(), *claims)
    assert arrow.table_to_items(arrow.items_to_table([item])) == [item]
    assert from_release(to_release(item)) == item
    table = arrow.items_to_table([*all_items(), item, *all_items()])
    assert arrow.list_claimed(table) == ([len(all_items())] if claims else [])
    assert arrow.list_claimed(table.slice(len(all_items()))) == ([0] if claims else [])


def test_every_row_of_a_release_has_the_field_so_that_loaders_know_it() -> None:
    rows = [to_release(chain_item()), to_release(carry(chain_item(), APOLLO))]
    assert [hop["evidence"]["claims"] for hop in rows[0]["single_hop"]] == [[], [], [], []]
    assert rows[1]["single_hop"][-1]["evidence"]["claims"][0]["phrase"] == APOLLO.phrase


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("value", "1234"), ("value", "6.0"), ("value", "-6"), ("value", "1e3"), ("value", "06"), ("value", "about 6"),
        ("value", "9" * 20), ("source_url", ""), ("source_url", "ftp://nasa.gov/x"), ("source_url", "nasa.gov/x"),
        ("source_url", "https://nasa/x y"), ("source_title", ""), ("phrase", "six"), ("statement", "x" * 301),
        ("author", "machine"),
    ],
)  # fmt: skip
def test_what_is_no_claim_is_refused(field: str, value: str) -> None:
    content = APOLLO.model_dump(exclude={"id"}) | {field: value}
    with pytest.raises(ValidationError):
        make_claim(**content)
