"""Questions about pictures as tasks of the server of episodes, in a folder that holds all that they need.

    tasks.jsonl, left_out.jsonl, report.json
    facts.jsonl         the facts that the set rests on, which `search` and `read` find; with a corpus there is none
    pictures/           the known pictures, those of the questions among them: what `image_search` compares with

The parts are the set's own. No two questions of different parts rest on the same facts, but a single fact may stand
behind questions of two parts: countries are few, and each borders on many. The report says of how many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hopwright.environments.fact_finder import FactFinder
from hopwright.environments.picture_finder import PictureLibrary
from hopwright.environments.task import FoundPassage, Task
from hopwright.environments.tools import CorpusFinder, PassageFinder
from hopwright.errors import InputError
from hopwright.evaluation.gold import GoldFinder
from hopwright.evaluation.items import to_eval_item
from hopwright.exports.agents import AgentExport
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.images.store import PictureStore, pack_usable
from hopwright.llm.prompts import Prompt
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.episodes import list_facts, make_picture_task, name_fact, tell_facts
from hopwright.pictures.rows import list_media
from hopwright.pictures.splitting import name_facts
from hopwright.records import Item
from hopwright.records.json_lines import read_json_lines
from hopwright.runs.files import hash_file, write_json_lines
from hopwright.training.task_files import Form, TaskLine
from hopwright.training.task_sets import (
    DEPTH,
    PROMPTS,
    Search,
    TaskSet,
    TaskSetOptions,
    make_line,
    put_in_order,
    rank_gold,
    search_first,
)

FACTS, PICTURES = "facts.jsonl", "pictures"
PICTURE_PROMPTS: dict[Form, str] = {**PROMPTS, "tags": "answer-pictures-with-tags"}


def make_picture_tasks(
    found: PictureSet,
    store: PictureStore,
    prompts: Mapping[str, Prompt],
    options: TaskSetOptions,
    recoveries: float = 0.0,
    retriever: Retriever | None = None,
) -> AgentExport:
    """Make the tasks of a set and of its twins. With a corpus that is searched, hops are found where it states them.

    Of the options the budget and the seed count; `recoveries` is for trajectories. Raises InputError where nothing of
    the set can be asked.
    """
    facts = tell_facts([*(item for item, _ in found.items), *found.twins])
    passages: PassageFinder = FactFinder(facts) if retriever is None else CorpusFinder(retriever)
    search: Search = search_first(retriever) if retriever is not None else lambda query: passages.search(query, DEPTH)
    gold = GoldFinder(retriever) if retriever is not None else None
    usable = frozenset(one.media for one in store.usable)
    parts = {name_facts(item): split for item, split in found.items}
    splits = {item.id: split for item, split in found.items}
    lines: list[TaskLine] = []
    left_out: list[dict[str, str]] = []
    stated: dict[str, set[str]] = {}
    for item in (*(item for item, _ in found.items), *found.twins):
        # A twin names its original, which names it.
        own = splits.get(item.id) or splits.get(item.twin or "")
        task = make_picture_task(item, options.max_steps)
        if gold is not None:
            task = _state_in_corpus(item, task, gold)
        if reason := _find_reason(item, task, own, parts, usable):
            left_out.append({"id": item.id, "reason": reason})
            continue
        assert own is not None
        parts.setdefault(name_facts(item), own)
        stated.setdefault(own, set()).update(_name_each(item))
        ranks = rank_gold(task, search)
        line = make_line(
            task,
            prompts,
            options,
            PICTURE_PROMPTS,
            split=own,
            variant="factual" if item.id in splits else "twin",
            pair=item.id if item.id in splits else item.twin,
            topology=item.topology,
            difficulty=to_eval_item(item).difficulty,
            # A picture is not found by words.
            ranks=tuple(0 if hop.question_parts else rank for hop, rank in zip(item.hops, ranks, strict=True)),
            pictures=list_media(item),
        )
        lines.append(line)
    if not lines:
        raise InputError(f"{found.folder}: none of its questions is a task; the first: {left_out[0]['reason']}")
    tested = stated.get("validation", set()) | stated.get("test", set())
    basis: dict[str, Any] = {
        "pictures": store.snapshot(),
        "facts_trained_and_tested_on": len(stated.get("train", set()) & tested),
    }
    beside = {f"{PICTURES}/{name}": data for name, data in pack_usable(store).items()}
    if retriever is None:
        beside[FACTS] = write_json_lines({"id": one.id, "title": one.title, "text": one.text} for one in facts)
        basis["facts"] = hashlib.sha256(beside[FACTS]).hexdigest()
    else:
        basis["corpus"] = retriever.store.manifest.content
    tasks = TaskSet(put_in_order(lines), tuple(left_out))
    return AgentExport(tasks, PictureLibrary(store, passages), options.seed, recoveries, basis, beside)


def open_library(folder: Path, retriever: Retriever | None) -> tuple[PictureLibrary, dict[str, str]]:
    """What finds for the tasks of a folder, and hashes of what that rests on; the facts beside them, or a corpus.

    Raises InputError where the folder is not whole, or rests on facts and a corpus is given.
    """
    if not (folder / PICTURES).is_dir():
        raise InputError(f"{folder}: no {PICTURES} beside the tasks; take the whole folder that was exported")
    store = PictureStore.open(folder / PICTURES)
    basis = {"pictures": store.snapshot()}
    if retriever is not None:
        if (folder / FACTS).is_file():
            raise InputError(f"{folder}: its tasks rest on facts.jsonl; export them with --corpus to search a corpus")
        return PictureLibrary(store, CorpusFinder(retriever)), basis
    return PictureLibrary(store, FactFinder(read_facts(folder / FACTS))), {**basis, "facts": hash_file(folder / FACTS)}


def read_facts(path: Path) -> list[FoundPassage]:
    """Read a file of facts. Raises InputError naming the line that is none."""
    facts: list[FoundPassage] = []
    for row, place in read_json_lines(path, "hopwright images export"):
        named = [row.get(name) for name in ("id", "title", "text")] if isinstance(row, dict) else []
        if not named or not all(isinstance(one, str) for one in named):
            raise InputError(f"{place}: a fact has an id, a title and a text")
        id, title, text = map(str, named)
        facts.append(FoundPassage(id, title, text, id, 0, len(text)))
    return facts


def _find_reason(
    item: Item, task: Task, own: str | None, parts: Mapping[str, str], usable: frozenset[str]
) -> str:
    """Why an item is no task; empty where it is one."""
    if not usable.issuperset(list_media(item)):
        return "the store has not all of its pictures"
    if own is None:
        return "its original is not in the set"
    if parts.get(name_facts(item), own) != own:
        return "a question of another part rests on the same facts"
    pairs = zip(item.hops, task.hops, strict=True)
    if not all(hop.gold or not (of.question_parts or list_facts(of)) for of, hop in pairs):
        return "no passage states one of its hops"
    return ""


def _state_in_corpus(item: Item, task: Task, gold: GoldFinder) -> Task:
    """The task with the places where a corpus states its facts; what a picture shows stays where the picture is."""
    hops = tuple(
        hop if of.question_parts else replace(hop, gold=gold.find_facts(cited))
        for hop, of, cited in zip(task.hops, item.hops, to_eval_item(item).hops, strict=True)
    )
    return replace(task, hops=hops)


def _name_each(item: Item) -> set[str]:
    return {name_fact(fact) for hop in item.hops for fact in list_facts(hop)}
