"""Voters in this process: `transformers`, on the CPU or on one GPU.

A vote needs no text, only the four letters' logits at the first place of the answer, after the model's own chat
template: one forward pass a question. Questions are batched by length, padded on the left.

On the CPU everything is float32, on a GPU bfloat16. The size of a batch changes the order of the sums inside a matrix
product, and with it the last digits of a probability; docs/gpu.md has how much that is.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.difficulty.prompting import (
    Answering,
    fold_system,
    read_open_answer,
    read_reasoning,
    word_choice,
    word_question,
)
from hopwright.difficulty.voters import MissingVote, VoterAnswer, VoterQuestion
from hopwright.errors import InputError
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Message
from hopwright.records import LABELS

_TOKENS = {"cpu": 4096, "cuda": 32_768}
"""Prompt tokens, padding included, that one forward pass takes by default."""


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """device: `auto` takes the GPU where there is one. dtype: `auto` is float32 on the CPU, bfloat16 on a GPU.

    batch_tokens: prompt tokens of one forward pass, 0 for what suits the device. context: longest prompt in tokens.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch_tokens: int = 0
    context: int = 4096
    answering: Answering = "letter"


class TransformersVoter:
    """A model in this process: `load_voter` gets one from its weights.

    Raises InputError where the tokenizer lacks a chat template or a token for a letter.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, settings: LocalSettings) -> None:
        self.name = name
        self.device = str(model.device)
        self._torch, _ = import_transformers()
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._settings = settings
        self._batch_tokens = settings.batch_tokens or _TOKENS[self.device.split(":")[0]]
        if not tokenizer.chat_template:
            raise InputError(f"{name}: its tokenizer has no chat template; take the instruction-tuned weights")
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        self._letters = [self._find_letter(label) for label in LABELS]

    def choose(self, choices: Sequence[VoterQuestion]) -> list[VoterAnswer]:
        """One answer for every question."""
        answering = self._settings.answering
        prompts = [self._encode(word_choice(choice, answering)) for choice in choices]
        if answering == "letter":
            return self._weigh(prompts)
        front = load_prompts()["vote-reasoning"].front
        return [
            text if isinstance(text, MissingVote) else read_reasoning(text)
            for text in self._write(prompts, front.max_tokens)
        ]

    def answer(self, questions: Sequence[tuple[str, str]]) -> list[str | MissingVote]:
        """The open answers to (key, question) pairs."""
        prompts = [self._encode(word_question(question)) for _, question in questions]
        front = load_prompts()["vote-open"].front
        return [
            text if isinstance(text, MissingVote) else read_open_answer(text)
            for text in self._write(prompts, front.max_tokens)
        ]

    def _weigh(self, prompts: Sequence[list[int]]) -> list[VoterAnswer]:
        answers: list[VoterAnswer] = [self._refuse(len(prompt)) for prompt in prompts]
        for batch in self._batch([place for place, one in enumerate(prompts) if self._fits(one)], prompts, 0):
            tokens, mask = self._pad([prompts[place] for place in batch])
            with self._torch.inference_mode():
                output = self._model(
                    input_ids=tokens,
                    attention_mask=mask,
                    position_ids=(mask.cumsum(-1) - 1).clamp(min=0),
                    use_cache=False,
                    logits_to_keep=1,
                )
            logits = output.logits[:, -1, self._letters].double()
            for place, row in zip(batch, logits.softmax(-1).tolist(), strict=True):
                answers[place] = tuple(row)
        return answers

    def _write(self, prompts: Sequence[list[int]], most: int) -> list[str | MissingVote]:
        texts: list[str | MissingVote] = [self._refuse(len(prompt)) for prompt in prompts]
        for batch in self._batch([place for place, one in enumerate(prompts) if self._fits(one)], prompts, most):
            tokens, mask = self._pad([prompts[place] for place in batch])
            with self._torch.inference_mode():
                # Greedy: what the model's own generation settings say about sampling is put aside.
                written = self._model.generate(
                    input_ids=tokens,
                    attention_mask=mask,
                    max_new_tokens=most,
                    do_sample=False,
                    temperature=None,
                    top_p=None,
                    top_k=None,
                    pad_token_id=self._tokenizer.pad_token_id,
                )
            for place, row in zip(batch, written[:, tokens.shape[1] :].tolist(), strict=True):
                texts[place] = self._read(row, most)
        return texts

    def _read(self, tokens: list[int], most: int) -> str | MissingVote:
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        ends = self._model.generation_config.eos_token_id
        ended = {ends} if isinstance(ends, int) else set(ends or ())
        if not ended.intersection(tokens):
            return MissingVote("truncated", f"the answer was cut off at {most} tokens")
        return text if text.strip() else MissingVote("empty", "the answer is empty")

    def _encode(self, messages: Sequence[Message]) -> list[int]:
        """The prompt as tokens; a template that knows a switch for thinking gets it switched off."""
        text = self._tokenizer.apply_chat_template(
            [{"role": message.role, "content": message.content} for message in fold_system(messages)],
            add_generation_prompt=True,
            tokenize=False,
            enable_thinking=False,
        )
        # The template writes the special tokens itself.
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _batch(self, places: Sequence[int], prompts: Sequence[list[int]], more: int) -> list[list[int]]:
        """Questions of like length together, the longest first: if memory is short, that shows at once."""
        batches: list[list[int]] = []
        width = 0
        for place in sorted(places, key=lambda place: (-len(prompts[place]), place)):
            if batches and (len(batches[-1]) + 1) * width <= self._batch_tokens:
                batches[-1].append(place)
            else:
                batches.append([place])
                width = len(prompts[place]) + more
        return batches

    def _pad(self, prompts: Sequence[list[int]]) -> tuple[Any, Any]:
        width = max(map(len, prompts))
        pad = self._tokenizer.pad_token_id
        tokens = [[pad] * (width - len(prompt)) + prompt for prompt in prompts]
        mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        make = self._torch.tensor
        return make(tokens, device=self.device), make(mask, device=self.device)

    def _fits(self, prompt: Sequence[int]) -> bool:
        return len(prompt) <= self._settings.context

    def _refuse(self, length: int) -> MissingVote:
        return MissingVote("rejected", f"the prompt has {length} tokens, more than {self._settings.context}")

    def _find_letter(self, label: str) -> int:
        """The token that is this letter and nothing else, as constrained decoding allows it."""
        token = self._tokenizer.convert_tokens_to_ids(label)
        if token is None or token == self._tokenizer.unk_token_id:
            pieces = self._tokenizer(label, add_special_tokens=False)["input_ids"]
            if len(pieces) != 1:
                raise InputError(f"{self.name}: its tokenizer has no token for the letter {label}")
            token = pieces[0]
        return int(token)


def load_voter(name: str, weights: Path, settings: LocalSettings) -> TransformersVoter:
    """Load a model into this process. Raises InputError where that cannot be done."""
    torch, transformers = import_transformers()
    # Its bars would end up between the stage's own.
    transformers.utils.logging.disable_progress_bar()
    device = find_device(torch, settings.device)
    dtype = settings.dtype if settings.dtype != "auto" else ("float32" if device == "cpu" else "bfloat16")
    place = {"local_files_only": True}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(weights), padding_side="left", **place)
        model = transformers.AutoModelForCausalLM.from_pretrained(str(weights), dtype=getattr(torch, dtype), **place)
        model = model.to(device)
    except torch.OutOfMemoryError:
        raise InputError(
            f"{name}: the weights do not fit into the memory of {device}; "
            "free it, take a smaller model, or let vLLM spread it over several GPUs"
        ) from None
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{name}: cannot be loaded from {weights} ({_first_line(error)})") from None
    return TransformersVoter(name, model, tokenizer, settings)


def import_transformers() -> tuple[Any, Any]:
    """torch and transformers. Raises InputError where they are not installed."""
    try:
        return importlib.import_module("torch"), importlib.import_module("transformers")
    except ImportError as error:
        raise InputError(
            f"voters of the kind transformers need torch and transformers ({error}): pip install '.[local]'"
        ) from None


def find_device(torch: Any, wanted: str) -> str:
    """`cpu` or `cuda:0`. Raises InputError for a GPU that is not there."""
    has = bool(torch.cuda.is_available())
    if wanted == "auto":
        return "cuda:0" if has else "cpu"
    if wanted != "cpu" and not has:
        raise InputError(f"there is no GPU here that torch can use, and device is {wanted}: set it to auto or cpu")
    return wanted if wanted != "cuda" else "cuda:0"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
