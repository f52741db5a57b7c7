"""The whole line: 500 proven questions offline, the proofs by brute force, the audit, and faults that it finds."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hopwright.knowledge.images.rendering import encode_png
from hopwright.knowledge.images.store import PictureStore
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.pictures.audit import audit_pictures
from hopwright.pictures.dataset import PictureSet, write_picture_set
from hopwright.pictures.drafting import PictureDrafter
from hopwright.pictures.rows import list_media, name_kind, read_text
from hopwright.planning.execution import same, stated_value
from hopwright.records import ImagePart, Item, Lookup, TextPart
from hopwright.records.documents import render_parts
from hopwright.settings import PictureQuestionsParameters
from hopwright.settings.presets import read_picture_presets
from tests.conftest import SAMPLE
from tests.pictures.brute_force import RawFacts, answer_item
from tests.pictures.painted import open_drafter, paint

_VARIED = re.compile(
    r"\b(?:most populous|least populous|largest|smallest|larger|smaller|longer|longest|shorter|shortest|earlier|later"
    r"|first|last|population|area|coastline|two|three|flag|outline)\b"
)


@pytest.fixture(scope="module")
def raw() -> RawFacts:
    return RawFacts(SAMPLE)


@pytest.mark.e2e
def test_five_hundred_questions_are_made_offline_in_minutes(large: tuple[PictureSet, float]) -> None:
    found, seconds = large
    items = [item for item, _ in found.items]
    kinds = Counter(map(name_kind, items))
    assert len(items) == 500
    assert seconds < 180
    assert min(kinds["bridging"], kinds["comparison"]) >= 200
    assert len({media for item in items for media in list_media(item)}) >= 150
    # Both kinds have both numbers of hops, as in the paper.
    for kind in ("bridging", "comparison"):
        hops = Counter(len(item.hops) for item in items if name_kind(item) == kind)
        assert hops.keys() == {3, 4}
        assert min(hops.values()) >= 20, (kind, hops)
    parts = Counter(split for _, split in found.items)
    assert [round(parts[name] / 50) for name in ("train", "validation", "test")] == [7, 1, 2]
    # And so within each kind and number of hops, as far as questions with the same facts stay together.
    groups = Counter((name_kind(item), len(item.hops)) for item in items)
    for (kind, depth), number in groups.items():
        own = Counter(split for item, split in found.items if (name_kind(item), len(item.hops)) == (kind, depth))
        for split, share in (("train", 0.7), ("validation", 0.1), ("test", 0.2)):
            assert abs(own[split] - share * number) <= 2, (kind, depth, own)


@pytest.mark.e2e
def test_what_is_asked_to_one_decimal_place_has_one(large: tuple[PictureSet, float]) -> None:
    found, _ = large
    items = (*(item for item, _ in found.items), *found.twins)
    asked = [item for item in items if "one decimal place" in item.question]
    assert len(asked) >= 10 and any(item in found.twins for item in asked)
    for item in asked:
        for text in (item.answer, *item.options.values()):
            assert re.fullmatch(r"[\d,]+\.\d", text), (item.question, text)


@pytest.mark.e2e
def test_the_proofs_hold_by_brute_force(
    large: tuple[PictureSet, float], raw: RawFacts, drafter: PictureDrafter
) -> None:
    """Every answer follows from the sample's files, and with some other picture the same steps end elsewhere."""
    found, _ = large
    for item in (*(item for item, _ in found.items), *found.twins):
        shown = [found.pictures[media]["entity"] for media in list_media(item)]
        values = answer_item(item, shown, raw)
        stated = [stated_value(hop) for hop in item.hops]
        assert all(same(one, other) for one, other in zip(values, stated, strict=True)), item.id
        for place, media in enumerate(list_media(item)):
            others = [one for one in drafter.classes[found.pictures[media]["kind"]] if one not in shown]
            ends = (answer_item(item, [*shown[:place], one, *shown[place + 1 :]], raw)[-1] for one in others)
            assert any(end is not None and not same(end, stated[-1]) for end in ends), (item.id, place)


@pytest.mark.e2e
def test_questions_are_short_and_no_frame_is_common(large: tuple[PictureSet, float]) -> None:
    found, _ = large
    questions = [read_text(item.question_parts) for item, _ in found.items]
    assert max(len(question.split()) for question in questions) <= 40
    # What is left when what is compared and what is asked is taken out.
    bare = Counter(_VARIED.sub("_", question) for question in questions)
    assert bare.most_common(1)[0][1] <= 0.1 * len(questions)
    assert len(bare) > 150
    starts = Counter(" ".join(question.split()[:4]) for question in questions)
    assert starts.most_common(1)[0][1] <= 0.1 * len(questions)


@pytest.mark.e2e
def test_the_audit_finds_nothing(large: tuple[PictureSet, float], drafter: PictureDrafter) -> None:
    found, _ = large
    report = audit_pictures(found, drafter, lambda _: None)
    assert report.violations == ()
    assert report.items == 500
    kinds = Counter(map(name_kind, found.twins))
    assert report.twins == kinds.total() > 300
    assert min(kinds["bridging"], kinds["comparison"]) > 80, kinds


def test_twins_ask_the_same_of_other_pictures(small_set: PictureSet) -> None:
    originals = {item.id: item for item, _ in small_set.items}
    assert len(small_set.twins) > 25
    for twin in small_set.twins:
        assert twin.twin is not None
        original = originals[twin.twin]
        assert original.twin == twin.id
        assert twin.question == original.question
        assert twin.answer != original.answer
        assert list_media(twin) != list_media(original)


def test_no_question_or_description_names_what_is_shown(small_set: PictureSet) -> None:
    for item, _ in small_set.items:
        said = read_text(item.question_parts)
        for media in list_media(item):
            assert small_set.pictures[media]["label"] not in said
        assert {part.description for part in item.question_parts if isinstance(part, ImagePart)} <= {
            "image", "first image", "second image", "third image",
        }  # fmt: skip


def test_a_border_is_a_land_border_in_questions_and_hops(small_set: PictureSet) -> None:
    told = 0
    for item in (*small_set.of_split("all"), *small_set.twins):
        for question in (item.question, *(hop.question for hop in item.hops)):
            if re.search("border|neighbour", question):
                assert re.search(r"\b[Ll]and\b", question), question
                told += 1
    assert told > 20


@pytest.mark.e2e
def test_a_hop_hints_no_more_than_the_question(large: tuple[PictureSet, float]) -> None:
    places = [
        hop.question
        for item, _ in large[0].items
        for hop in item.hops
        if isinstance(hop.derivation, Lookup) and hop.derivation.property in ("P19", "P20")
    ]
    assert places
    assert all(re.fullmatch(r"Where was .+ born\?|Where did .+ die\?", question) for question in places)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, store: PictureStore, source: WikidataSource) -> None:
    parameters = PictureQuestionsParameters(items=12, seed=5)
    for name in ("one", "two"):
        write_picture_set(open_drafter(store, source, 5), tmp_path / name, parameters, lambda _: None)
    hashes = [
        {
            path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*.*"))
        }
        for folder in (tmp_path / "one", tmp_path / "two")
    ]
    different = [str(name) for name in hashes[0] if hashes[0][name] != hashes[1].get(name)]
    # The card has the folder's name for a title.
    assert set(different) <= {"README.md", "checksums.sha256"}
    other = tmp_path / "three"
    write_picture_set(open_drafter(store, source, 6), other, parameters.model_copy(update={"seed": 6}), lambda _: None)
    assert (other / "items.jsonl").read_bytes() != (tmp_path / "one" / "items.jsonl").read_bytes()


def test_a_preset_fills_in_what_is_not_chosen() -> None:
    paper = PictureQuestionsParameters(preset="paper")
    assert (paper.items, paper.bridging, paper.three, paper.twins) == (500, 0.85, 0.0, False)
    assert PictureQuestionsParameters(preset="paper", items=7, twins=True).items == 7
    assert PictureQuestionsParameters(preset="paper", twins=True).twins
    offline = PictureQuestionsParameters(preset="offline")
    assert offline.model_copy(update={"preset": "none"}) == PictureQuestionsParameters()
    assert set(read_picture_presets()) == {"offline", "paper"}
    for name in read_picture_presets():
        assert PictureQuestionsParameters(preset=name).items == 500


def test_rows_embed_their_pictures(small_set: PictureSet) -> None:
    table = pq.read_table(small_set.folder / "data" / "train.parquet")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["images"] == {"feature": {"_type": "Image"}, "_type": "List"}
    for row in table.to_pylist():
        assert row["images"]
        for image in row["images"]:
            assert f"{hashlib.sha256(image['bytes']).hexdigest()}.png" == image["path"]


def test_counts_add_up(small_set: PictureSet) -> None:
    counts = json.loads((small_set.folder / "counts.json").read_text())
    left = sum(counts["left_out"].values())
    rejected = sum(number for name, number in counts["rejected"].items() if not name.startswith("twin:"))
    made = sum(number for name, number in counts["made"].items() if name != "twins")
    assert sum(counts["tried"].values()) == made + rejected + left
    twins = sum(number for name, number in counts["rejected"].items() if name.startswith("twin:"))
    assert made == counts["made"]["twins"] + twins


# ------------------------------------------------------------ faults that the audit has to find


def _find(found: PictureSet, *, options: bool = False) -> Item:
    return next(item for item, _ in found.items if name_kind(item) == "bridging" and (item.options or not options))


def _name_it(item: Item, found: PictureSet) -> Item:
    label = found.pictures[list_media(item)[0]]["label"]
    parts = tuple(
        TextPart(text=f"{part.text} It is {label}.") if isinstance(part, TextPart) else part
        for part in item.question_parts
    )
    return item.model_copy(update={"question_parts": parts, "question": render_parts(parts)})


def _swap_picture(item: Item, found: PictureSet) -> Item:
    other = next(
        media for media, row in found.pictures.items() if media not in list_media(item) and row["kind"] == "flag"
    )
    parts = (ImagePart(media=other, description="image"), *item.question_parts[1:])
    return item.model_copy(update={"question_parts": parts})


def _change_answer(item: Item, found: PictureSet) -> Item:
    last = item.hops[-1].model_copy(update={"answer": "1", "answer_type": "number", "answer_id": None})
    return item.model_copy(update={"hops": (*item.hops[:-1], last), "answer": "1"})


def _repeat_option(item: Item, found: PictureSet) -> Item:
    options = dict.fromkeys(item.options, item.answer)
    last = item.hops[-1].model_copy(update={"options": options})
    return item.model_copy(update={"hops": (*item.hops[:-1], last), "options": options})


def _cut_hop(item: Item, found: PictureSet) -> Item:
    return item.model_copy(update={"hops": item.hops[:-1], "answer": item.hops[-2].answer})


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (_name_it, "leakage"),
        (_swap_picture, "pictures"),
        (_change_answer, "answers"),
        (_repeat_option, "options"),
        (_cut_hop, "shape"),
    ],
)
def test_a_planted_fault_is_found(
    small_set: PictureSet, drafter: PictureDrafter, fault: Callable[[Item, PictureSet], Item], check: str
) -> None:
    item = _find(small_set, options=True)
    spoilt = replace(small_set, items=((fault(item, small_set), "train"),), twins=())
    report = audit_pictures(spoilt, drafter, lambda _: None)
    assert check in {one.check for one in report.violations if one.item == item.id}


def test_a_changed_picture_is_found(small_set: PictureSet, drafter: PictureDrafter, tmp_path: Path) -> None:
    item = _find(small_set)
    (tmp_path / "images").mkdir()
    (media,) = list_media(item)
    (tmp_path / "images" / f"{media}.png").write_bytes(encode_png(paint("Q1", "flag")))
    spoilt = replace(small_set, folder=tmp_path, items=((item, "train"),), twins=())
    assert "files" in {one.check for one in audit_pictures(spoilt, drafter, lambda _: None).violations}
