"""Questions whose names a language model found, over the wire: paid once, proven and audited as those of the rules."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hopwright.errors import InputError
from hopwright.llm.session import Session
from hopwright.novels.audit import audit_novels
from hopwright.novels.dataset import BookTexts, NovelSet, read_novel_set, write_novel_set
from hopwright.novels.finders import open_finder
from hopwright.novels.shelf import open_books
from hopwright.settings import NovelQuestionsParameters
from tests.llm.builders import run, settings
from tests.llm.wire_server import WireServer
from tests.novels.story import PEOPLE, PLACES

FINDER = "local/tiny"


class NameLister(WireServer):
    """Lists the names of a story that stand in what it is shown, and a place that does not."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        self.asked += 1
        text = " ".join(body["messages"][-1]["content"].split())
        names = [{"name": one, "kind": "person"} for one in PEOPLE if one in text]
        names += [{"name": one, "kind": "place"} for one in (*PLACES, "Atlantis") if one in text or one == "Atlantis"]
        answer = reply({**body, "tools": None}, prompt, "")
        answer["choices"][0]["message"] = {"role": "assistant", "content": json.dumps({"names": names})}
        return web.json_response(answer)


def make(folder: Path, shelf: Path, server: NameLister) -> NovelSet:
    parameters = NovelQuestionsParameters.model_validate(
        {"items": 3, "lengths": ["4k"], "finder": FINDER, "twins": False}
    )

    async def check() -> NovelSet:
        async with server:
            with Session(settings(server), folder / "llm.sqlite") as session:
                finder = open_finder(parameters.finder, session.complete_all)
                await asyncio.to_thread(
                    write_novel_set, open_books(shelf, ["ledger"]), folder / "set", parameters, lambda _: None, finder,
                    replace=True,
                )  # fmt: skip
        return read_novel_set(folder / "set")

    return run(check())


def test_a_models_names_carry_proven_questions_and_are_paid_once(tmp_path: Path, shelf: Path) -> None:
    first, again = NameLister(), NameLister()
    found = make(tmp_path, shelf, first)
    assert first.asked > 1
    assert {len(item.hops) for item in found.items} == {1, 2, 3, 4}
    assert audit_novels(found, BookTexts(found, shelf), lambda _: None).violations == ()
    (names,) = found.books.values()
    assert names.finder == f"model:{FINDER}"
    assert "Atlantis" not in names.forms
    assert make(tmp_path, shelf, again).items == found.items
    assert again.asked == 0


@pytest.mark.parametrize("finder", ["", "a finder", "spacy:", "/x"])
def test_a_finder_that_is_none_is_refused(finder: str) -> None:
    with pytest.raises(ValueError, match="finder"):
        NovelQuestionsParameters.model_validate({"finder": finder})


def test_a_model_has_to_be_asked() -> None:
    with pytest.raises(ValueError, match="has to be asked"):
        open_finder(FINDER)
    with pytest.raises(InputError, match="not installed"):
        open_finder("spacy:no_such_model")
