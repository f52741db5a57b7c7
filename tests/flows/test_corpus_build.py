"""Parameters of the line over documents, and what `hopwright corpus build` refuses before it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from prefect.utilities.callables import parameter_schema

pytest.importorskip("tantivy", reason="the extra documents is not installed")

import flows.build_documents
from flows.deploy import read_deployments
from hopwright.errors import InputError
from hopwright.settings import (
    DocumentBuildParameters,
    articles_file,
    checkout,
    load_parameters,
    read_document_options,
    read_presets,
    sample_folder,
)
from hopwright.settings.presets import read_document_presets
from hopwright.stages.documents import DocumentLine
from tests.knowledge.documents.builders import make_passages, write_lines


def test_the_preset_takes_what_ships_with_the_project() -> None:
    offline = DocumentBuildParameters(preset="offline")
    assert (offline.documents_path(), offline.facts_folder()) == (articles_file(), sample_folder())
    assert (offline.corpus, offline.most, offline.hops, offline.dense) == (
        "sample-articles",
        100,
        ["2", "3", "4"],
        "off",
    )
    assert set(read_document_presets()) == {"offline"}
    assert "documents" not in read_presets()


def test_what_a_form_changes_goes_before_the_preset() -> None:
    form = DocumentBuildParameters().model_dump(mode="json")
    assert DocumentBuildParameters.model_validate({**form, "preset": "offline"}) == DocumentBuildParameters(
        preset="offline"
    )
    changed = DocumentBuildParameters.model_validate({**form, "preset": "offline", "most": 7, "corpus": "mine"})
    assert (changed.most, changed.corpus, changed.documents) == (7, "mine", "sample")


def test_a_default_that_is_chosen_on_the_command_line_goes_before_the_preset() -> None:
    chosen = load_parameters(read_document_options({"preset": "offline", "most": 500}), DocumentBuildParameters)
    assert (chosen.most, chosen.documents) == (500, "sample")


def test_the_parts_of_the_parameters_are_those_of_the_single_steps() -> None:
    wanted = DocumentBuildParameters(
        corpus="c", passage_words=50, licence="CC0", shards=3, language="german", most=9, seed=4, hops=["3"]
    )
    assert (wanted.adding().corpus, wanted.adding().passage_words, wanted.adding().licence) == ("c", 50, "CC0")
    assert (wanted.indexing().shards, wanted.indexing().language, wanted.indexing().part) == (3, "german", "1/1")
    assert (wanted.asking().most, wanted.asking().seed, wanted.asking().hops) == (9, 4, ["3"])


def test_the_form_begins_with_what_is_asked_for_most() -> None:
    fields = DocumentBuildParameters.model_json_schema()["properties"]
    order = sorted(fields, key=lambda name: fields[name]["position"])
    assert order[:4] == ["preset", "corpus", "documents", "facts"]
    assert set(order) == set(DocumentBuildParameters.model_fields)
    (deployment,) = [one for one in read_deployments(checkout()) if one["name"] == "documents"]
    assert deployment["entrypoint"] == "flows/build_documents.py:build_documents"


def test_the_flow_reads_what_a_form_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[DocumentLine] = []
    monkeypatch.setattr(flows.build_documents, "run_line", taken.append)
    start: Any = flows.build_documents.build_documents.fn
    start({**DocumentBuildParameters().model_dump(), "preset": "offline", "seed": 3})
    assert [one.parameters for one in taken] == [DocumentBuildParameters(preset="offline", seed=3)]
    with pytest.raises(InputError, match=r"^most: at least 1 is wanted, not 0$"):
        start({"most": 0})
    assert parameter_schema(flows.build_documents.build_documents).definitions.keys() == {"DocumentBuildParameters"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no corpus 'documents', and no documents for it: name a file or a folder by --documents"),
        (("--documents", "nowhere"), "nowhere: no such file or folder"),
        (("--preset", "offline", "--facts", "nowhere"), "nowhere: no such folder"),
        (("--preset", "offline", "--hop", "6"), "'6'"),
        (("--preset", "offline", "--corpus", "../x"), "--corpus: '../x' does not fit"),
        (("--preset", "offline", "--dense", "ftp://x"), "--dense: 'ftp://x' does not fit"),
    ],
)
def test_a_mistake_is_one_line_and_makes_nothing(
    call: Any, home: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = call("corpus", "build", tmp_path / "out", *arguments)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not home.exists()
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_other_things_is_refused_first(call: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    assert "holds files that Hopwright did not write" in call("corpus", "build", tmp_path / "out").err


def test_documents_are_not_mixed_with_those_of_another_source(home: Path, tmp_path: Path) -> None:
    first = write_lines(tmp_path / "a.jsonl", make_passages(5))
    second = write_lines(tmp_path / "b.jsonl", make_passages(5, seed=9))
    line = DocumentLine(DocumentBuildParameters(corpus="c", documents=str(first)))
    line.check()
    added = line.add_documents(lambda _: None)
    assert added == {"documents": 5, "passages": 5}
    line.check()
    assert line.add_documents(lambda _: None) == added
    other = DocumentLine(DocumentBuildParameters(corpus="c", documents=str(second)))
    with pytest.raises(InputError, match="the corpus 'c' holds other documents, too"):
        other.check()
    kept = DocumentLine(DocumentBuildParameters(corpus="c"))
    kept.check()
    assert kept.add_documents(lambda _: None) == added


def test_a_corpus_that_was_read_in_another_way_is_not_taken_for_this_one(home: Path, tmp_path: Path) -> None:
    file = str(write_lines(tmp_path / "a.jsonl", make_passages(5)))
    DocumentLine(DocumentBuildParameters(corpus="c", documents=file)).add_documents(lambda _: None)
    other = DocumentLine(DocumentBuildParameters(corpus="c", documents=file, passage_words=4))
    with pytest.raises(InputError, match="holds these documents already, read in another way"):
        other.add_documents(lambda _: None)
