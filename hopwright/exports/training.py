"""Training data: supervised for LLaMA-Factory, reinforcement for verl, with the paper's settings (Omanic, B.1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

import pyarrow as pa
import yaml

from hopwright.evaluation.items import EvalItem, kind_of
from hopwright.exports.rows import read_template, scoring_code
from hopwright.llm.prompts import Prompt
from hopwright.records.arrow import encode_parquet

# Tables 7 and 9 of the paper.
_SHARED = {
    "stage": "sft",
    "do_train": True,
    "dataset": "hopwright_sft",
    "dataset_dir": ".",
    "cutoff_len": 2048,
    "per_device_train_batch_size": 32,
    "gradient_accumulation_steps": 2,
    "num_train_epochs": 3.0,
    "bf16": True,
    "logging_steps": 10,
    "save_strategy": "epoch",
    "plot_loss": True,
}
_FULL_8B = {
    "model_name_or_path": "Qwen/Qwen3-8B",
    "template": "qwen3",
    "finetuning_type": "full",
    "deepspeed": "examples/deepspeed/ds_z3_config.json",
    "learning_rate": 1.0e-5,
    "lr_scheduler_type": "cosine",
    "warmup_ratio": 0.1,
    "output_dir": "saves/qwen3-8b-full-sft",
}
_LORA_70B = {
    "model_name_or_path": "meta-llama/Llama-3.3-70B-Instruct",
    "template": "llama3",
    "finetuning_type": "lora",
    "lora_rank": 8,
    "lora_target": "all",
    "learning_rate": 1.0e-4,
    "output_dir": "saves/llama-3.3-70b-lora-sft",
}


def export_llama_factory(items: Sequence[EvalItem], prompts: dict[str, Prompt], seed: int) -> dict[str, bytes]:
    """Half multiple choice, half open-ended, each answered by way of the sub-questions; two training files."""
    records = [_to_dialogue(item, prompts, form) for item, form in _halve(items, seed)]
    info = {
        "hopwright_sft": {
            "file_name": "hopwright_sft.json",
            "columns": {"prompt": "instruction", "query": "input", "response": "output", "system": "system"},
        }
    }
    return {
        "hopwright_sft.json": _json(records),
        "dataset_info.json": _json(info),
        "qwen3_8b_full_sft.yaml": _yaml(_FULL_8B | _SHARED),
        "llama3_70b_lora_sft.yaml": _yaml(_LORA_70B | _SHARED),
    }


def export_verl(items: Sequence[EvalItem], prompts: dict[str, Prompt], seed: int) -> dict[str, bytes]:
    """Prompts with their gold answers for GRPO, the reward function, and a launch file (Omanic, table 8)."""
    rows = []
    for number, (item, form) in enumerate(_halve(items, seed)):
        turns = prompts[f"answer-{form}-cot"].render(_inputs(item, form))
        truth = {
            "form": form,
            "label": item.label if form == "mcq" else "",
            "options": [item.options[letter] for letter in "ABCD"],
            "answers": [item.answer, *item.aliases],
            "answer_kind": kind_of(item.answer, item.answer_type),
        }
        rows.append(
            {
                "data_source": "hopwright",
                "prompt": [{"role": turn.role, "content": turn.content} for turn in turns],
                "ability": "multi-hop-qa",
                "reward_model": {"style": "rule", "ground_truth": json.dumps(truth, ensure_ascii=False)},
                "extra_info": {"split": "train", "index": number, "id": item.id},
            }
        )
    return {
        "train.parquet": encode_parquet(pa.Table.from_pylist(rows)),
        "reward.py": read_template("verl", "reward.py"),
        "run_grpo.sh": read_template("verl", "run_grpo.sh"),
        **scoring_code(),
    }


def _halve(items: Sequence[EvalItem], seed: int) -> list[tuple[EvalItem, str]]:
    """Half of the items for either form, drawn by hash, in the items' order."""
    ranked = sorted(items, key=lambda item: hashlib.blake2b(f"{seed}:{item.id}".encode()).digest())
    first = {item.id for item in ranked[: len(ranked) // 2]}
    return [(item, "mcq" if item.id in first else "open") for item in items]


def _to_dialogue(item: EvalItem, prompts: dict[str, Prompt], form: str) -> dict[str, str]:
    turns = prompts[f"answer-{form}-cot"].render(_inputs(item, form))
    steps = [f"{hop.index}. {hop.question} {hop.answer}" for hop in item.hops]
    end = f"The answer is {item.label}." if form == "mcq" else f"FINAL ANSWER: {item.answer}"
    return {
        "system": "\n".join(turn.content for turn in turns if turn.role == "system"),
        "instruction": turns[-1].content,
        "input": "",
        "output": "\n".join([*steps, end]),
    }


def _inputs(item: EvalItem, form: str) -> dict[str, object]:
    inputs: dict[str, object] = {"question": item.question, "passages": [], "steps": [], "sub_questions": []}
    return {**inputs, "options": item.options} if form == "mcq" else inputs


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def _yaml(content: Mapping[str, object]) -> bytes:
    return yaml.safe_dump(dict(content), sort_keys=False).encode()
