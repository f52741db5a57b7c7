from __future__ import annotations

from pathlib import Path

import pytest

from annotation.export import build_task
from annotation.gold import plant_fault, plant_gold, read_gold, write_gold
from annotation.schema import CRITERIA, REVIEWED, GoldItem, ReviewTaskKind
from hopwright.checks import CheckContext, failures, run_checks
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Item
from tests.annotation.tags import ERRORS
from tests.builders import all_items, bridge_item, chain_item, converging_item


def with_aliases(item: Item) -> Item:
    """The item whose entity answers have another name."""
    hops = tuple(
        hop.model_copy(update={"answer_aliases": (f"Old {hop.answer}",)}) if hop.answer_type == "entity" else hop
        for hop in item.hops
    )
    return item.model_copy(update={"hops": hops})


@pytest.mark.parametrize("kind", REVIEWED)
@pytest.mark.parametrize("fault", ["wrong_answer", "leaked_answer", "wrong_computation", "true_distractor"])
def test_a_fault_is_planted_where_the_key_says_and_nowhere_else(kind: ReviewTaskKind, fault: str) -> None:
    found = 0
    for item in (with_aliases(one) for one in all_items()):
        planted = plant_fault(item, kind, fault)  # type: ignore[arg-type]
        if planted is None:
            continue
        found += 1
        gold = planted.gold
        assert planted.item.id == gold.item_id != item.id
        assert gold.source == item.id
        assert (gold.hop is not None) == (kind is ReviewTaskKind.SINGLE_HOP)
        assert set(gold.tags) <= set(ERRORS[kind])
        assert set(gold.criteria) <= set(CRITERIA[kind])
        good = build_task(item, kind, gold.hop)["data"]
        bad = build_task(planted.item, kind, gold.hop)["data"]
        assert set(bad) == set(good), "nothing on the server tells it from another"
        assert bad["item_html"].replace(gold.item_id, "") != good["item_html"].replace(item.id, "")
        assert planted.item.checks == item.checks
        changed = [one.index for one, other in zip(planted.item.hops, item.hops, strict=True) if one != other]
        assert len(changed) <= 1
        assert gold.hop is None or changed == [gold.hop]
    assert found


def test_machine_checks_would_notice_what_is_planted() -> None:
    context = CheckContext(default_table())
    for item in all_items():
        assert "recomputation" not in {one.name for one in failures(run_checks(item, context))}
        planted = plant_fault(item, ReviewTaskKind.MULTI_HOP, "wrong_computation")
        if planted is not None:
            assert "recomputation" in {one.name for one in failures(run_checks(planted.item, context))}
    leaked = plant_fault(chain_item(), ReviewTaskKind.MULTI_HOP, "leaked_answer")
    assert leaked is not None
    assert "leakage" in {one.name for one in failures(run_checks(leaked.item, context))}


def test_gold_is_repeatable_varied_and_independent_of_the_other_items() -> None:
    items = [
        with_aliases(item).model_copy(update={"id": f"{item.id}{number}"})
        for number in range(20)
        for item in (chain_item(), converging_item(), bridge_item())
    ]
    all_of_them = list(plant_gold(items, ReviewTaskKind.SINGLE_HOP, 7))
    assert len(all_of_them) == len(items)
    assert list(plant_gold(items[30:], ReviewTaskKind.SINGLE_HOP, 7)) == all_of_them[30:]
    assert list(plant_gold(items, ReviewTaskKind.SINGLE_HOP, 8)) != all_of_them
    assert {one.gold.fault for one in all_of_them} == {
        "wrong_answer", "leaked_answer", "wrong_computation", "true_distractor",
    }  # fmt: skip
    assert len({one.gold.item_id for one in all_of_them}) == len(items)
    assert all(one.item.id.startswith("hw-") and len(one.item.id) == 19 for one in all_of_them)


def test_keys_are_written_and_read_back(tmp_path: Path) -> None:
    planted = [one.gold for one in plant_gold(all_items(), ReviewTaskKind.SINGLE_HOP, 0)]
    write_gold(planted, tmp_path / "gold.jsonl")
    assert read_gold(tmp_path / "gold.jsonl") == {one.key: one for one in planted}
    assert all(isinstance(one, GoldItem) and one.key == f"{one.item_id}#{one.hop}" for one in planted)
    assert read_gold(tmp_path / "none.jsonl") == {}
    (tmp_path / "gold.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="not a list of gold items"):
        read_gold(tmp_path / "gold.jsonl")
