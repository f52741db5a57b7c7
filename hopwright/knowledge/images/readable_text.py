"""Whether a name can be read in a picture: by optical character recognition, where that is installed.

`rapidocr_onnxruntime` brings its models in the wheel. Where it is missing, nothing is proven and the check says so.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterable
from typing import Any

import numpy as np
from PIL import Image

from hopwright.text.matching import fold

SKIPPED = "not looked for: rapidocr_onnxruntime is not installed (pip install 'hopwright[ocr]')"
_SHORTEST = 4
_SURE = 0.5


def can_read() -> bool:
    """Whether pictures can be read here."""
    return importlib.util.find_spec("rapidocr_onnxruntime") is not None


def read_words(image: Image.Image) -> tuple[str, ...]:
    """The lines of text that are recognised in a picture. Raises ImportError where `can_read` is false."""
    lines, _ = _load_reader()(np.asarray(image.convert("RGB"))[:, :, ::-1])
    return tuple(text for _, text, score in lines or () if float(score) >= _SURE)


def find_name(words: Iterable[str], names: Iterable[str]) -> str:
    """The first name that stands in the text, or in which a long word of it stands; empty where none does."""
    said = fold(" ".join(words)).replace(" ", "")
    for name in names:
        plain = fold(name).replace(" ", "")
        if len(plain) >= _SHORTEST and plain in said:
            return name
    return ""


@functools.cache
def _load_reader() -> Any:
    from rapidocr_onnxruntime import RapidOCR

    return RapidOCR()
