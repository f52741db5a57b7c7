"""Ideal transcripts: every one finds every hop, and what fails in it is not trained on."""

from __future__ import annotations

import json

import pytest

from hopwright.environments.task import FoundPassage, GoldPlace, Task, TaskHop
from hopwright.errors import InputError
from hopwright.runs.files import write_json_lines
from hopwright.training.playing import score_rollout
from hopwright.training.task_files import Form, TaskLine
from hopwright.training.trajectories import NoTrajectoryError, TrajectoryMaker

LONG = "Nothing is said here. " * 20
PAGES = {
    "d1": "Ada lives in Oslo.",
    "d2": f"Oslo has a mayor. {LONG}The mayor is Per.",
    "d3": "Trains leave at noon.",
}


class WordFinder:
    """Finds the documents that share most words with a query, and shows their first sentences."""

    def search(self, query: str, most: int) -> list[FoundPassage]:
        words = set(query.lower().strip("?").split())
        scored = [(len(words & set(text.lower().replace(".", "").split())), id) for id, text in PAGES.items()]
        best = sorted((score, id) for score, id in scored if score)[::-1][:most]
        return [FoundPassage(f"{id}:0-18", id, PAGES[id][:18], id, 0, 18) for _, id in best]

    def read(self, id: str) -> FoundPassage:
        document = id.partition(":")[0]
        if document not in PAGES:
            raise InputError(id)
        return FoundPassage(id, document, PAGES[document], document, 0, len(PAGES[document]))


def make_line(max_steps: int = 10) -> TaskLine:
    end = len(PAGES["d2"])
    hops = (
        TaskHop(1, "In which town lives Ada?", ("Oslo",), (), (((GoldPlace("d1", 0, 18)),),)),
        TaskHop(2, "Who is the mayor of Oslo?", ("Per",), (1,), (((GoldPlace("d2", end - 17, end)),),)),
        TaskHop(3, "How many letters has Per?", ("3",), (2,)),
    )
    question = "How many letters has the name of the head of the place at noon?"
    prompt = [{"role": "system", "content": "Search."}, {"role": "user", "content": question}]
    task = Task("t", question, ("3",), "number", hops, max_steps)
    return TaskLine.from_task(task, prompts={"tools": prompt, "tags": prompt})


@pytest.mark.parametrize("form", ["tools", "tags"])
def test_an_ideal_transcript_searches_reads_and_answers(form: Form) -> None:
    line = make_line()
    row = TrajectoryMaker(WordFinder(), 0, 0.0).make(line, form).row
    roles = [turn["role"] for turn in row["messages"]]
    assert roles == ["system", "user", *["assistant", "tool"] * 3, "assistant"]
    # The search for the mayor finds the page and not the place, so it is there to be seen only.
    assert row["train"] == [0, 0, 1, 0, 0, 0, 1, 0, 1]
    scored = score_rollout(line.to_task(), form, row["messages"], WordFinder())
    assert scored["right"] and scored["hops_found"] == 3
    assert scored["rewards"]["hops"] == pytest.approx(1.5 - 0.05)
    if form == "tools":
        called = [turn["tool_calls"][0]["function"]["name"] for turn in row["messages"] if turn.get("tool_calls")]
        assert called == ["search", "search", "read"]
        assert [tool["function"]["name"] for tool in row["tools"]] == ["search", "read"]
    else:
        kept = [row["text"][start:end] for start, end in row["trained"]]
        assert [text.count("<") for text in kept] == [4, 4, 4]
        assert not any("<information>" in text or "head of the place" in text for text in kept)


def test_a_search_fails_first_where_that_is_wanted() -> None:
    made = TrajectoryMaker(WordFinder(), 0, 1.0).make(make_line(), "tools")
    assert made.failed == 2
    flags = [
        flag for turn, flag in zip(made.row["messages"], made.row["train"], strict=True) if turn["role"] == "assistant"
    ]
    assert sorted(flags) == [0, 0, 1, 1, 1] and flags[-1] == 1


def test_what_the_tools_do_not_lead_through_is_no_transcript() -> None:
    maker = TrajectoryMaker(WordFinder(), 0, 0.0)
    with pytest.raises(NoTrajectoryError, match="more than the 2 calls"):
        maker.make(make_line(max_steps=2), "tools")
    line = make_line()
    lost = line.hops[0].model_copy(update={"gold": ((line.hops[0].gold[0][0].model_copy(update={"document": "d9"}),),)})
    with pytest.raises(NoTrajectoryError, match="no search of hop 1"):
        maker.make(line.model_copy(update={"hops": (lost, *line.hops[1:])}), "tools")


def test_the_same_seed_gives_the_same_bytes() -> None:
    rows = [[TrajectoryMaker(WordFinder(), seed, 0.5).make(make_line(), "tools").row] for seed in (1, 1, 2, 3, 4, 5)]
    files = [write_json_lines(one) for one in rows]
    assert files[0] == files[1]
    assert len(set(files)) > 1
    assert json.loads(files[0])["id"] == "t"
