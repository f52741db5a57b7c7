"""The paper's own way, with a model that is a server and the providers' own SDKs before it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hopwright.errors import InputError
from hopwright.exports.read_chains.growing import ReadChains
from hopwright.exports.read_chains.writing import read_titles, write_read_chains
from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.llm.session import Session
from hopwright.records import Item, ReadSpan
from hopwright.settings import CorpusIndexParameters, CorpusReadParameters
from tests.exports.reading_model import CAPITALS, DIRECTORS, FILMS, TOWNS, ReadingModel, list_passages
from tests.knowledge.documents.builders import add, write_lines
from tests.llm.builders import run, settings
from tests.llm.conftest import planted_key as planted_key

OPENING = f"Who directed the 1931 film {FILMS[0]}?"


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return make_corpus(tmp_path_factory.mktemp("reading"), list_passages())


def make_corpus(folder: Path, rows: list[dict[str, str]]) -> Retriever:
    add(write_lines(folder / "a.jsonl", rows), folder / "corpus", near_duplicates=0)
    build_index(folder / "corpus", CorpusIndexParameters(workers=1))
    return Retriever.open(folder / "corpus")


def write(
    folder: Path, retriever: Retriever, server: ReadingModel, *, kind: str = "openai", name: str = "out",
    excluded: frozenset[str] = frozenset(), **fields: Any,
) -> dict[str, Any]:  # fmt: skip
    """Write a set with the model behind the provider's SDK; what came of it, as counts.json has it."""
    parameters = CorpusReadParameters.model_validate({"model": "local/tiny", **fields})

    async def ask() -> dict[str, Any]:
        async with server:
            with Session(settings(server, kind=kind), folder / "llm.sqlite", run="read") as session:
                maker = ReadChains(retriever, parameters, session.complete_all, excluded)
                funnel = await asyncio.to_thread(
                    write_read_chains, maker, retriever, folder / name, parameters, lambda _: None
                )
                return funnel.to_dict()

    return run(ask())


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def read_items(folder: Path) -> list[Item]:
    return [Item.model_validate(row) for row in read(folder / "items.jsonl")]


def sum_faults(counts: dict[str, Any]) -> Counter[str]:
    """What was rejected, by code alone."""
    faults: Counter[str] = Counter()
    for name, number in counts["rejected"].items():
        faults[name.rpartition(": ")[2]] += number
    return faults


@pytest.fixture(scope="module")
def made(retriever: Retriever, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], ReadingModel]:
    folder, server = tmp_path_factory.mktemp("made"), ReadingModel()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPWRIGHT_TEST_KEY", "k")
        counts = write(folder, retriever, server)
    return folder, counts, server


def test_both_kinds_are_made_with_two_to_four_hops(made: tuple[Path, dict[str, Any], ReadingModel]) -> None:
    folder, counts, _ = made
    assert set(counts["written"]) == {
        f"{kind}, {hops} hops" for kind in ("inference", "comparison") for hops in (2, 3, 4)
    }
    items = read_items(folder / "out")
    assert len(items) == sum(counts["written"].values())
    assert {item.topology for item in items} == {
        "chain-2", "chain-3", "chain", "converging-3", "converging", "converging-5",
    }  # fmt: skip
    (longest,) = [
        item for item in items if item.topology == "chain" and item.hops[0].question == OPENING
    ]  # fmt: skip
    assert longest.question == (
        "From which city is the country in which the town where the director of the 1931 film The Amber Road was born "
        "lies governed?"
    )
    assert [hop.answer for hop in longest.hops] == ["Ilka Moren", "Tarrow Bay", "Velmark", "Osterhall"]
    assert [hop.depends_on for hop in longest.hops] == [(), (1,), (2,), (3,)]


def test_answers_are_spans_and_items_those_of_the_model(
    made: tuple[Path, dict[str, Any], ReadingModel], retriever: Retriever
) -> None:
    folder, counts, server = made
    keys: set[str] = set()
    for item in read_items(folder / "out"):
        assert item.id == item.plan_id
        assert item.answer == item.hops[-1].answer
        assert item.provenance.generator == "model"
        assert item.provenance.model_version == "tiny-v1"
        assert {check.name for check in item.checks} == {"closed_book", "sufficiency", "necessity", "retrievability"}
        keys |= set(item.provenance.request_keys)
        for hop in item.hops:
            assert isinstance(hop.derivation, ReadSpan)
            document = retriever.store.find(hop.derivation.document)[0]
            assert document.text[hop.derivation.start : hop.derivation.end] == hop.answer
            (span,) = hop.evidence.spans
            assert span.start <= hop.derivation.start < hop.derivation.end <= span.end
            if item.topology.startswith("chain"):
                assert hop.answer not in item.question
    assert len(keys) <= counts["requests"] == len(server.answered)
    assert max(server.answered.values()) == 1


def test_no_two_things_are_compared_twice(made: tuple[Path, dict[str, Any], ReadingModel]) -> None:
    folder, counts, _ = made
    items = [item for item in read_items(folder / "out") if item.topology == "converging-3"]
    assert len({frozenset(hop.derivation for hop in item.hops[:2]) for item in items}) == len(items) > 0
    assert counts["rejected"]["comparison, 2 hops: beam: repeated"] == 15


def test_gold_passages_are_judged_and_ranked(made: tuple[Path, dict[str, Any], ReadingModel]) -> None:
    folder, _, _ = made
    passages = {one["_id"] for one in read(folder / "out" / "corpus.jsonl")}
    judged = [line.split("\t") for line in (folder / "out" / "qrels" / "test.tsv").read_text().splitlines()[1:]]
    per_item = Counter(query for query, _, _ in judged)
    assert {passage for _, passage, _ in judged} <= passages
    for item in read_items(folder / "out"):
        compares = item.topology.startswith("converging")
        assert per_item[item.id] == len(item.hops) - compares
    ranks = {row["id"]: row["ranks"] for row in read(folder / "out" / "retrievability.jsonl")}
    assert all(len(ranks[item.id]) == len(item.hops) for item in read_items(folder / "out"))
    assert all(rank for row in ranks.values() for rank in row)


def test_what_goes_in_comes_out_or_is_rejected(made: tuple[Path, dict[str, Any], ReadingModel]) -> None:
    folder, counts, _ = made
    stages = counts["stages"]
    assert len(read(folder / "out" / "rejected.jsonl")) == sum(counts["rejected"].values())
    for name, written in counts["written"].items():
        assert stages[f"{name}: questions"]["passed"] == stages[f"{name}: beam"]["entered"]
        assert stages[f"{name}: beam"]["passed"] == stages[f"{name}: merging"]["entered"]
        assert stages[f"{name}: merging"]["passed"] == stages[f"{name}: verification"]["entered"]
        assert stages[f"{name}: verification"]["passed"] == stages[f"{name}: writing"]["entered"]
        assert stages[f"{name}: writing"]["passed"] == written
    assert stages["atomic questions: questions"]["passed"] == stages["atomic questions: verification"]["entered"]
    for kind in ("inference", "comparison"):
        assert stages[f"{kind}: openings"]["entered"] == stages["atomic questions: verification"]["passed"]


def test_the_same_seed_and_answers_write_the_same_bytes_and_ask_nothing(
    made: tuple[Path, dict[str, Any], ReadingModel], retriever: Retriever
) -> None:
    folder, counts, _ = made
    server = ReadingModel()
    assert write(folder, retriever, server, name="again") == counts
    assert not server.kinds
    for path in (one for one in (folder / "out").rglob("*") if one.is_file()):
        assert (folder / "again" / path.relative_to(folder / "out")).read_bytes() == path.read_bytes()


def test_anthropics_sdk_gives_the_same_questions(
    made: tuple[Path, dict[str, Any], ReadingModel], retriever: Retriever, tmp_path: Path
) -> None:
    counts = write(tmp_path, retriever, ReadingModel(), kind="anthropic")
    assert counts["written"] == made[1]["written"]
    assert [item.question for item in read_items(tmp_path / "out")] == [
        item.question for item in read_items(made[0] / "out")
    ]


@pytest.mark.parametrize(
    ("failing", "words", "fault"),
    [
        ("malformed", FILMS[0], "request_failed"),
        ("no_span", FILMS[0], "span_missing"),
        ("long", FILMS[0], "answer_long"),
        ("telling", FILMS[0], "answer_in_question"),
        ("many", FILMS[0], "too_many"),
        ("lost_year", FILMS[0], "year_lost"),
        ("leaked", FILMS[0], "answer_leaked"),
        ("short", FILMS[0], "not_longer"),
        ("beside", FILMS[0], "concatenated"),
        ("objected", FILMS[0], "objected"),
    ],
)
def test_each_failing_is_rejected_under_its_code(
    made: tuple[Path, dict[str, Any], ReadingModel], retriever: Retriever, tmp_path: Path, failing: str, words: str,
    fault: str,
) -> None:  # fmt: skip
    counts = write(tmp_path, retriever, ReadingModel(**{failing: [words]}), kinds=["inference"], hops=["2"])
    assert sum_faults(counts)[fault] > sum_faults(made[1])[fault] or fault not in sum_faults(made[1])
    assert fault in sum_faults(counts)
    openings = [item.hops[0].question for item in read_items(tmp_path / "out")]
    assert (OPENING in openings) == (failing == "many")
    assert f"Who directed the 1932 film {FILMS[1]}?" in openings
    codes = {row["check"].rpartition(": ")[2] for row in read(tmp_path / "out" / "rejected.jsonl")}
    assert fault in codes


def test_a_malformed_answer_is_sent_back_and_paid_for_once(retriever: Retriever, tmp_path: Path) -> None:
    server = ReadingModel(malformed=[FILMS[0]])
    counts = write(tmp_path, retriever, server, kinds=["inference"], hops=["2"])
    again = ReadingModel(malformed=[FILMS[0]])
    assert write(tmp_path, retriever, again, kinds=["inference"], hops=["2"], name="again") == counts
    assert not again.kinds
    # The client asks twice for a repair; this model spoils both alike.
    assert sorted(server.answered.values())[-2:] == [1, 2]
    assert len(server.answered) == counts["requests"] + 1


def test_what_is_known_without_passages_is_rejected(retriever: Retriever, tmp_path: Path) -> None:
    merged = f"In which town was the director of the 1931 film {FILMS[0]} born?"
    known = {OPENING.replace("1931", "1932").replace(FILMS[0], FILMS[1]): DIRECTORS[1], merged: TOWNS[0]}
    counts = write(tmp_path, retriever, ReadingModel(known), kinds=["inference"], hops=["2"])
    assert counts["rejected"]["atomic questions: verification: known"] == 1
    assert counts["rejected"]["inference, 2 hops: verification: known"] == 1
    assert not {merged} & {item.question for item in read_items(tmp_path / "out")}


def test_a_judges_score_of_one_rejects_what_is_answered_without_passages(retriever: Retriever, tmp_path: Path) -> None:
    merged = f"In which town was the director of the 1931 film {FILMS[0]} born?"
    server = ReadingModel({merged: "Somewhere at a bay"}, partly=["Somewhere"])
    counts = write(tmp_path, retriever, server, kinds=["inference"], hops=["2"])
    assert counts["rejected"]["inference, 2 hops: verification: known"] == 1
    harmless = ReadingModel({merged: "Somewhere at a bay"})
    counts = write(tmp_path / "harmless", retriever, harmless, kinds=["inference"], hops=["2"])
    assert counts["rejected"]["inference, 2 hops: verification: not_sufficient"] == 1


def test_a_passage_that_can_be_left_out_rejects(tmp_path: Path) -> None:
    rows = list_passages()
    # This director's birthplace is told with the film, too: the director's own passage is not needed.
    rows[0]["text"] += f" {DIRECTORS[0]} first saw the light in {TOWNS[0]}."
    counts = write(tmp_path, make_corpus(tmp_path, rows), ReadingModel(), kinds=["inference"], hops=["2"])
    assert counts["rejected"]["inference, 2 hops: verification: not_necessary"] == 1
    assert OPENING not in {item.hops[0].question for item in read_items(tmp_path / "out")}


def test_excluded_titles_are_neither_asked_about_nor_retrieved(retriever: Retriever, tmp_path: Path) -> None:
    (tmp_path / "titles.txt").write_text(f"\ufeff{FILMS[1].upper()}\n\n  {DIRECTORS[2]} \n", "utf-8")
    excluded = read_titles(str(tmp_path / "titles.txt"))
    server = ReadingModel()
    counts = write(tmp_path, retriever, server, excluded=excluded, hops=["2"])
    assert counts["rejected"]["atomic questions: passages: title_excluded"] == 2
    items = read_items(tmp_path / "out")
    titles = {retriever.store.find(hop.evidence.spans[0].document)[0].title for item in items for hop in item.hops}
    assert FILMS[0] in titles
    assert not titles & {FILMS[1], DIRECTORS[2]}
    assert not any(f"Title: {title}\n" in prompt for prompt in server.seen for title in (FILMS[1], DIRECTORS[2]))


def test_a_file_without_titles_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(InputError, match=r"empty\.txt: no titles in it"):
        read_titles(str(tmp_path / "empty.txt"))
    with pytest.raises(InputError, match=r"gone\.txt: cannot be read"):
        read_titles(str(tmp_path / "gone.txt"))


def test_the_beam_bounds_what_is_merged(retriever: Retriever, tmp_path: Path) -> None:
    counts = write(tmp_path, retriever, ReadingModel(), kinds=["comparison"], hops=["2"], beam=2)
    openings = counts["stages"]["comparison, 2 hops: merging"]["entered"]
    assert 6 < openings <= 12
    assert counts["rejected"]["comparison, 2 hops: beam: beam"] > 0


def test_enough_questions_end_the_asking(retriever: Retriever, tmp_path: Path) -> None:
    counts = write(tmp_path, retriever, ReadingModel(), kinds=["inference"], hops=["2"], most=2)
    assert counts["written"] == {"inference, 2 hops": 2}
    assert counts["rejected"]["inference, 2 hops: writing: enough"] > 0


def test_more_hops_are_a_parameter(tmp_path: Path) -> None:
    further = [{"title": city, "text": f"{city} houses the {city[:3]}ian Archive."} for city in CAPITALS]
    retriever = make_corpus(tmp_path, [*list_passages(), *further])
    counts = write(tmp_path, retriever, ReadingModel(), kinds=["inference"], hops=["5"])
    assert counts["written"] == {"inference, 5 hops": len(read_items(tmp_path / "out"))}
    assert {(item.topology, len(item.hops)) for item in read_items(tmp_path / "out")} == {("chain-5", 5)}


def test_nothing_kept_says_why_and_writes_nothing(retriever: Retriever, tmp_path: Path) -> None:
    server = ReadingModel(no_span=[row["title"] for row in list_passages()])
    with pytest.raises(InputError, match=r"no question is kept: atomic questions: questions: span_missing \(\d+\)"):
        write(tmp_path, retriever, server)
    assert not (tmp_path / "out").exists()
