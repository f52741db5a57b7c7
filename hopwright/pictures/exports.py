"""Folders for other programs: lm-evaluation-harness and Inspect for evaluation, LLaMA-Factory for training.

Each folder holds its pictures and the code that reads and scores answers, and needs nothing of Hopwright's. Folders for
agents are those of `hopwright.exports.agents`, over tasks that show pictures.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from hopwright.exports.agents import AGENT_EXPORTERS, AgentExport
from hopwright.exports.harnesses import dump_task, name_function
from hopwright.exports.rows import scoring_code
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.rows import list_media, name_kind, read_text, read_typed
from hopwright.records import Item
from hopwright.release.own_folder import name_writer, refuse_foreign_forms, write_own_folder
from hopwright.runs.files import write_file, write_json_lines
from hopwright.scoring.typed_answers import list_accepted
from hopwright.training.trajectories import PLACEHOLDER

WRITER = "hopwright images export"
_ASKED = "Answer with a name, a number or a date alone, on a line that reads: FINAL ANSWER: the answer"
_VISION_SFT = {
    "model_name_or_path": "Qwen/Qwen2.5-VL-7B-Instruct",
    "template": "qwen2_vl",
    "stage": "sft",
    "do_train": True,
    "finetuning_type": "lora",
    "lora_rank": 8,
    "lora_target": "all",
    "freeze_vision_tower": True,
    "dataset": "hopwright_pictures",
    "dataset_dir": ".",
    "cutoff_len": 4096,
    "per_device_train_batch_size": 4,
    "gradient_accumulation_steps": 8,
    "learning_rate": 1.0e-4,
    "num_train_epochs": 3.0,
    "bf16": True,
    "output_dir": "saves/qwen2.5-vl-7b-lora-sft",
}


def export_pictures(
    found: PictureSet, target: Path, forms: Sequence[str], agents: AgentExport | None = None
) -> dict[str, int]:
    """Write a folder below `target` for each form; rows by the folder's name. Other things at `target` are left alone.

    `agents` is what the forms of agents are written from. Raises InputError where a form's folder holds other things
    than an earlier export of it.
    """
    written: dict[str, int] = {}
    refuse_foreign_forms(target, forms, WRITER)
    for form in forms:
        with write_own_folder(target / form, name_writer(WRITER, form), replace=True) as aside:
            if form in AGENT_EXPORTERS:
                assert agents is not None
                files = AGENT_EXPORTERS[form](agents)
                written[form] = files["sft.jsonl"].count(b"\n") if "sft.jsonl" in files else len(agents.tasks.lines)
            else:
                split, write = FORMS[form]
                items = found.of_split(split)
                written[form] = len(items)
                files = write(items)
                for media in sorted({one for item in items for one in list_media(item)}):
                    write_file(aside / "images" / f"{media}.png", found.read_png(media))
            for name, data in files.items():
                write_file(aside / name, data)
    return written


def make_export_row(item: Item) -> dict[str, Any]:
    """One item in plain fields; pictures as paths within the folder."""
    gold = read_typed(item)
    return {
        "id": item.id,
        "kind": name_kind(item),
        "depth": len(item.hops),
        "images": [f"images/{media}.png" for media in list_media(item)],
        "question": read_text(item.question_parts),
        "answer": item.answer,
        "answers": list(list_accepted(gold)),
        "answer_kind": gold.kind,
        "unit": gold.unit,
        "options": list(item.options.values()),
        "label": item.label or "",
    }


def _write_lm_eval(items: Sequence[Item]) -> dict[str, bytes]:
    task = {
        "task": "hopwright_pictures",
        "custom_dataset": name_function("utils.load_items"),
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_image": name_function("utils.load_images"),
        "doc_to_text": name_function("utils.ask"),
        "doc_to_target": "answer",
        "process_results": name_function("utils.score"),
        "generation_kwargs": {"until": ["\n\n\n"], "max_gen_toks": 512, "do_sample": False, "temperature": 0.0},
        "metric_list": [
            {"metric": name, "aggregation": "mean", "higher_is_better": True} for name in ("right", "extracted")
        ],
        "metadata": {"version": 1.0},
    }
    return {
        "items.jsonl": write_json_lines(map(make_export_row, items)),
        "hopwright_pictures.yaml": dump_task(task),
        "utils.py": _read_template("lm_eval_utils.py"),
        **_scoring(),
    }


def _write_inspect(items: Sequence[Item]) -> dict[str, bytes]:
    return {
        "items.jsonl": write_json_lines(map(make_export_row, items)),
        "hopwright_pictures_inspect.py": _read_template("inspect_task.py"),
        **_scoring(),
    }


def _write_llama_factory(items: Sequence[Item]) -> dict[str, bytes]:
    info = {
        "hopwright_pictures": {
            "file_name": "hopwright_pictures.json",
            "formatting": "sharegpt",
            "columns": {"messages": "messages", "images": "images"},
            "tags": {
                "role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant",
            },
        }
    }  # fmt: skip
    return {
        "hopwright_pictures.json": (
            json.dumps(list(map(_to_dialogue, items)), indent=1, ensure_ascii=False) + "\n"
        ).encode(),
        "dataset_info.json": (json.dumps(info, indent=2) + "\n").encode(),
        "qwen2_5_vl_lora_sft.yaml": yaml.safe_dump(_VISION_SFT, sort_keys=False).encode(),
    }


def _to_dialogue(item: Item) -> dict[str, Any]:
    """A question with its pictures, answered by way of its hops."""
    media = list_media(item)
    steps = [f"{hop.index}. {read_text(hop.question_parts) or hop.question} {hop.answer}" for hop in item.hops]
    asked = f"{PLACEHOLDER * len(media)}{read_text(item.question_parts)}\n{_ASKED}"
    return {
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": "\n".join([*steps, f"FINAL ANSWER: {item.answer}"])},
        ],
        "images": [f"images/{one}.png" for one in media],
    }


def _scoring() -> dict[str, bytes]:
    return {"hopwright_pictures.py": _read_template("scoring.py"), **scoring_code()}


def _read_template(name: str) -> bytes:
    return (importlib.resources.files("hopwright.pictures") / "templates" / "export" / name).read_bytes()



FORMS: dict[str, tuple[str, Callable[[Sequence[Item]], dict[str, bytes]]]] = {
    "lm-eval": ("test", _write_lm_eval),
    "inspect": ("test", _write_inspect),
    "llama-factory": ("train", _write_llama_factory),
}
"""Form → the part of the set that it takes, and what writes its files."""
