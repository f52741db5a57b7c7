"""The release format: what is written is read back whole, and whatever is wrong is named by its place."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.errors import InputError
from hopwright.records import AnchorRef, CheckResult, Item, Passage, Rejected, Source, Surrogate, Vote
from hopwright.release.format import from_release, parse_row, read_jsonl, to_release
from hopwright.release.spool import RowSpool
from tests.builders import all_items, chain_item, converging_item, write_jsonl

PUBLISHED = [
    "id", "single_hop", "multi_hop_question", "multi_hop_answer", "multiple_choice_options",
    "correct_answer_label", "motif_type",
]  # fmt: skip
PUBLISHED_HOP = ["question", "answer", "multiple_choice_options", "correct_answer_label"]


def full_item() -> Item:
    item = chain_item()
    first = item.hops[0].model_copy(
        update={
            "answer_aliases": ("A. Lindqvist",),
            "evidence": item.hops[0].evidence.replace(
                passages=(Passage(title="Night Harbour", text="Two\nlines “quoted”."),)
            ),
        }
    )
    return item.model_copy(
        update={
            "hops": (first, *item.hops[1:]),
            "variant": "counterfactual",
            "twin": "hw-other",
            "world": (Surrogate(original="Vestmark", surrogate="Ruland", id="Q903"),),
            "checks": (CheckResult(name="schema", outcome="pass"),),
            "votes": (Vote(model="prior", option="A", probabilities=(0.7, 0.1, 0.1, 0.1), right=False),),
            "provenance": item.provenance.model_copy(
                update={
                    "sources": (Source(name="Wikidata", licence="CC0-1.0"),),
                    "cost_usd": 0.1,
                    "seed": 3,
                    "anchor": AnchorRef(question_id="2hop__1_2", answer="Ada Lindqvist", entity="Q902"),
                }
            ),
        }
    )


def bare(item: Item) -> dict:
    row = {key: value for key, value in to_release(item).items() if key in PUBLISHED}
    row["single_hop"] = [{key: hop[key] for key in PUBLISHED_HOP} for hop in row["single_hop"]]
    return row


@pytest.mark.parametrize("item", [*all_items(), full_item()], ids=lambda item: f"{item.topology}-{item.variant}")
def test_a_row_comes_back_as_the_item_it_was(item):
    assert from_release(json.loads(json.dumps(to_release(item)))) == item


def test_the_published_fields_come_first_and_in_the_published_order():
    row = to_release(converging_item())
    assert list(row)[: len(PUBLISHED)] == PUBLISHED
    assert all(list(hop)[:4] == PUBLISHED_HOP for hop in row["single_hop"])
    assert row["motif_type"] == "Converging"
    assert [len(row["single_hop"]), row["multiple_choice_options"]["D"]] == [
        4,
        converging_item().options["D"],
    ]


def test_every_row_and_every_hop_has_the_same_keys():
    rows = [to_release(item) for item in [*all_items(), full_item()]]
    assert len({tuple(row) for row in rows}) == 1
    assert len({tuple(hop) for row in rows for hop in row["single_hop"]}) == 1
    assert len({tuple(hop["derivation"]) for row in rows for hop in row["single_hop"]}) == 1


def _paths(value: object, prefix: tuple = ()) -> list[tuple]:
    found = [prefix] if prefix else []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found += _paths(child, (*prefix, key))
    return found


@given(st.data())
def test_any_field_replaced_by_anything_is_read_or_refused_by_name_but_never_crashes(data):
    row = copy.deepcopy(to_release(full_item()))
    path = data.draw(st.sampled_from(_paths(row)))
    junk = data.draw(st.sampled_from([None, 7, -1, "", "x", [], {}, ["x"], {"x": 1}, True, 1.5]))
    holder = row
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = junk
    try:
        from_release(row)
    except InputError as error:
        assert str(error).split(":")[0].split("[")[0].split(".")[0] in row
        assert "\n" not in str(error)


@pytest.mark.parametrize("field", PUBLISHED)
def test_a_missing_published_field_is_named(field):
    row = to_release(chain_item())
    del row[field]
    with pytest.raises(InputError, match=f"^{field}: missing"):
        from_release(row)


@pytest.mark.parametrize("field", [*PUBLISHED_HOP, "derivation", "depends_on", "domain", "answer_type", "index"])
def test_a_field_missing_from_a_hop_is_named_with_the_hop(field):
    row = to_release(chain_item())
    del row["single_hop"][2][field]
    problem = parse_row(row).problems[0]
    assert (problem.path, problem.hop) == (f"single_hop[2].{field}", 3)


def test_a_wrong_value_deep_inside_is_named_by_its_release_path():
    row = to_release(chain_item())
    row["single_hop"][1]["derivation"]["subject"] = 5
    row["single_hop"][3]["multiple_choice_options"]["E"] = "x"
    assert [problem.path for problem in parse_row(row).problems] == [
        "single_hop[1].derivation.subject",
        "single_hop[3].multiple_choice_options.E.[key]",
    ]


def test_a_motif_that_contradicts_the_topology_is_a_problem():
    row = to_release(chain_item()) | {"motif_type": "Bridge"}
    assert [problem.path for problem in parse_row(row).problems] == ["motif_type"]


def test_a_bare_published_row_is_parsed_without_a_plan_and_cannot_be_read_back():
    for item in all_items():
        parsed = parse_row(bare(item))
        assert parsed.item is not None and not parsed.planned and not parsed.problems
        assert [hop.depends_on for hop in parsed.item.hops] == [hop.depends_on for hop in item.hops]
        assert not hasattr(parsed.item.hops[0], "derivation")
        with pytest.raises(InputError, match="without a plan"):
            from_release(bare(item))


def test_unknown_fields_of_others_are_ignored():
    row = to_release(chain_item()) | {"rating": 3}
    row["single_hop"][0]["note"] = "x"
    assert from_release(row) == chain_item()


def test_a_file_is_read_line_by_line(tmp_path):
    path = tmp_path / "data.jsonl"
    write_jsonl(all_items(), path)
    assert [from_release(row) for _, row in read_jsonl(path)] == all_items()


def test_text_is_written_as_it_reads(tmp_path):
    item = chain_item().model_copy(update={"answer": "Ødegård – 95"})
    with RowSpool(tmp_path / "spool", item.variant) as spool:
        assert list(spool.take([item])) == [item]
        assert ["Ødegård – 95" in line.decode() for line in spool.read_sorted()] == [True]


def test_an_item_that_cannot_be_rendered_is_refused():
    with pytest.raises(InputError, match="unknown topology"):
        to_release(chain_item().model_copy(update={"topology": "ring"}))


def test_bad_lines_are_data_and_good_ones_still_come(tmp_path):
    good = json.dumps(to_release(chain_item())).encode()
    path = tmp_path / "data.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + b"\n".join([good, b'{"id": 1', b"[1]", b"", b"\xff\xfe{}", b"[" * 100_000, good[:-20], good])
    )
    lines = list(read_jsonl(path))
    assert [number for number, _ in lines] == [1, 2, 3, 5, 6, 7, 8]
    assert [isinstance(row, Rejected) for _, row in lines] == [False, True, True, True, True, True, False]
    assert {row.check for _, row in lines if isinstance(row, Rejected)} == {"schema"}


def test_a_missing_file_is_one_clear_line():
    with pytest.raises(InputError, match="cannot read"):
        list(read_jsonl(Path("nowhere.jsonl")))
