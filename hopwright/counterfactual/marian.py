"""MarianMT through transformers as a back-translator: any chain of local weights that leads from English to English.

Needs the `local` extra (torch, transformers, sentencepiece). Weights are folders on this machine; nothing is fetched.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hopwright.counterfactual.translating import MaskStyle, RoundTripResult
from hopwright.errors import ServiceError

_BATCH = 16
_BEAMS = 4
_LANGUAGE = {
    "ar": "Arabic", "cs": "Czech", "de": "German", "es": "Spanish", "fi": "Finnish", "fr": "French", "it": "Italian",
    "ja": "Japanese", "nl": "Dutch", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "uk": "Ukrainian",
    "zh": "Chinese",
}  # fmt: skip
_PAIR = re.compile(r"\b(\w{2,3})-(\w{2,3})$")


class MarianBackTranslator:
    """A chain of MarianMT models, such as `opus-mt-en-zh` and `opus-mt-zh-en`.

    folders: the models in the order in which a text goes through them; the languages are read off the names of the
    folders. Attempt n takes the n-th best of the beam, so that nothing is drawn at random and no text depends on the
    others of its batch. Texts longer than a model takes are not cut but given back with their problem.
    """

    style: MaskStyle = "brackets"
    whole = True

    def __init__(self, folders: Sequence[Path], *, tries: int = 2, batch: int = _BATCH) -> None:
        self._folders = tuple(folders)
        self._batch = batch
        self.tries = min(tries, _BEAMS)
        codes = [match[2] for folder in self._folders if (match := _PAIR.search(folder.name))]
        self.pivots = tuple(_LANGUAGE.get(code, code) for code in codes[:-1])
        self.name = f"marian {' '.join(folder.name for folder in self._folders)}"

    def find_obstacle(self) -> str:
        """Why it cannot run here; empty when it can."""
        missing = [
            name for name in ("torch", "transformers", "sentencepiece") if importlib.util.find_spec(name) is None
        ]
        if missing:
            return f"{' and '.join(missing)} are not installed (pip install 'hopwright[local]')"
        if len(self._folders) < 2:
            return "MarianMT needs at least two folders of weights: into another language, and back"
        lacking = [folder for folder in self._folders if not (folder / "config.json").is_file()]
        return f"{lacking[0]}: no folder of MarianMT weights" if lacking else ""

    def translate(self, texts: Sequence[str], attempt: int = 0) -> list[RoundTripResult]:
        """See BackTranslator."""
        done = [RoundTripResult(text) for text in texts]
        for leg, folder in enumerate(self._folders):
            model = _load(folder)
            places = [place for place, one in enumerate(done) if not one.problem]
            # Only the first leg offers another sample: one change is enough for another round trip.
            rank = min(attempt, _BEAMS - 1) if leg == 0 else 0
            for place, one in zip(
                places, model.translate([done[p].text for p in places], rank, self._batch), strict=True
            ):
                done[place] = one
        return done


class _Marian:
    """One direction."""

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import MarianMTModel, MarianTokenizer

        try:
            self._tokenizer: Any = MarianTokenizer.from_pretrained(folder, local_files_only=True)
            self._model: Any = MarianMTModel.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError, TypeError, KeyError, AssertionError, RuntimeError, ImportError) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise ServiceError(f"{folder}: MarianMT weights cannot be loaded ({why})") from None
        self._model.train(False)
        # Shards run side by side, one a processor; threads of their own would only get in each other's way.
        torch.set_num_threads(1)
        self._torch = torch
        self._longest = int(self._model.config.max_position_embeddings)

    def translate(self, texts: Sequence[str], rank: int, batch: int) -> list[RoundTripResult]:
        """The rank-th best translation of each text, from 0; a text that is too long comes back with its problem."""
        lengths = [len(self._tokenizer(text)["input_ids"]) for text in texts]
        out: list[RoundTripResult] = [
            RoundTripResult(problem=f"{length} tokens, and the model takes {self._longest}") for length in lengths
        ]
        # Alike lengths side by side, so that little is padded.
        order = sorted((p for p in range(len(texts)) if lengths[p] <= self._longest), key=lambda p: (lengths[p], p))
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            for place, text in zip(places, self._generate([texts[p] for p in places], rank), strict=True):
                out[place] = RoundTripResult(text) if text.strip() else RoundTripResult(problem="nothing came back")
        return out

    def _generate(self, texts: list[str], rank: int) -> list[str]:
        encoded = self._tokenizer(texts, return_tensors="pt", padding=True)
        with self._torch.inference_mode():
            generated = self._model.generate(
                **encoded,
                num_beams=_BEAMS,
                num_return_sequences=rank + 1,
                do_sample=False,
                max_new_tokens=min(self._longest - 1, 2 * int(encoded["input_ids"].shape[1]) + 20),
            )
        decoded = self._tokenizer.batch_decode(generated, skip_special_tokens=True)
        return [" ".join(text.split()) for text in decoded[rank :: rank + 1]]


@functools.lru_cache(maxsize=8)
def _load(folder: Path) -> _Marian:
    return _Marian(folder)
