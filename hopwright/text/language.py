"""Which language a text is in, by py3langid: a text that came back in the pivot language has not come back.

Names are taken out first: invented ones look like any language. Only English and the languages on the way are told
apart, which a sentence of a few words suffices for.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Sequence
from typing import Any

_CODES = {
    "Arabic": "ar", "Chinese": "zh", "Czech": "cs", "Danish": "da", "Dutch": "nl", "Finnish": "fi", "French": "fr",
    "German": "de", "Greek": "el", "Hindi": "hi", "Hungarian": "hu", "Italian": "it", "Japanese": "ja", "Korean": "ko",
    "Norwegian": "no", "Polish": "pl", "Portuguese": "pt", "Romanian": "ro", "Russian": "ru", "Spanish": "es",
    "Swedish": "sv", "Turkish": "tr", "Ukrainian": "uk", "Vietnamese": "vi",
}  # fmt: skip
_SURE = 0.9
_WORDS = 3


def find_language_obstacle() -> str:
    """Why languages cannot be told apart here; empty when they can."""
    if importlib.util.find_spec("py3langid") is None:
        return "py3langid is not installed"
    return ""


def find_foreign(text: str, masks: re.Pattern[str], pivots: Sequence[str]) -> str:
    """The pivot language that a masked text is in, or empty; also where it cannot be told (a word or two)."""
    codes = {_CODES[pivot]: pivot for pivot in pivots if pivot in _CODES}
    plain = masks.sub(" ", text)
    if not codes or len(plain.split()) < _WORDS or find_language_obstacle():
        return ""
    language, probability = _load(tuple(sorted(codes))).classify(plain)
    return codes.get(language, "") if probability >= _SURE else ""


@functools.lru_cache(maxsize=8)
def _load(codes: tuple[str, ...]) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier: Any = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(["en", *codes])
    return identifier
