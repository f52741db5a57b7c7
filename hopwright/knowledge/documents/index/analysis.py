"""From text to the terms that an index counts, and what a term weighs (BM25)."""

from __future__ import annotations

import bisect
import functools
import math
from typing import TYPE_CHECKING

from hopwright.errors import InputError

if TYPE_CHECKING:
    import tantivy

K1, B = 1.2, 0.75
"""tantivy's, and Lucene's."""
FIELD, ROW = "contents", "row"
_TOKENIZER = "terms"
_LONGEST_TERM = 40
_ENGLISH = """
a about above after again against all am an and any are as at be because been before being below between both but by
could did do does doing down during each few for from further had has have having he her here hers herself him himself
his how i if in into is it its itself me more most my myself no nor not of off on once only or other ought our ours
ourselves out over own same she should so some such than that the their theirs them themselves then there these they
this those through to too under until up very was we were what when where which while who whom why with would you your
yours yourself yourselves
""".split()
"""Snowball's stop words, as tantivy has them for other languages; its English ones are Lucene's 33, of which none asks
a question."""
_STOP_WORDS = frozenset(
    "danish dutch finnish french german hungarian italian norwegian portuguese russian spanish swedish".split()
)


def require_tantivy() -> None:
    """Raises InputError where the extra is not installed."""
    try:
        import tantivy  # noqa: F401
    except ImportError:
        raise InputError("indexes need an extra that is not installed: pip install 'hopwright[documents]'") from None


@functools.cache
def make_analyzer(language: str) -> tantivy.TextAnalyzer:
    """What cuts a text into terms: words folded to ASCII, without the language's stop words and endings."""
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for one in (tantivy.Filter.remove_long(_LONGEST_TERM), tantivy.Filter.lowercase()):
        builder = builder.filter(one)
    if language == "english":
        builder = builder.filter(tantivy.Filter.custom_stopword(_ENGLISH))
    elif language in _STOP_WORDS:
        builder = builder.filter(tantivy.Filter.stopword(language))
    if language != "none":
        builder = builder.filter(tantivy.Filter.stemmer(language))
    return builder.filter(tantivy.Filter.ascii_fold()).build()


def make_schema() -> tantivy.Schema:
    """The fields of a shard: the terms with their counts, and the number of the passage."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field(FIELD, tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_integer_field(ROW, fast=True)
    return builder.build()


def register(index: tantivy.Index) -> None:
    """Have an index take terms as they come, one between spaces: they are cut before, and counted then."""
    import tantivy

    index.register_tokenizer(_TOKENIZER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())


def weigh_term(bearers: int, passages: int) -> float:
    """The inverse document frequency of a term that so many of the passages have."""
    return math.log(1 + (passages - bearers + 0.5) / (bearers + 0.5))


def score_term(count: int, length: int, average: float) -> float:
    """What a term that occurs `count` times adds to a passage of `length` terms, before its weight."""
    return (K1 + 1) * count / (count + K1 * (1 - B + B * round_length(length) / average))


def round_length(length: int) -> int:
    """The length that an index remembers of a passage: one byte, as in Lucene; exact up to 40 terms."""
    return _LENGTHS[bisect.bisect_right(_LENGTHS, length) - 1]


def _list_lengths() -> list[int]:
    """The lengths that one byte can stand for: 24 plain ones, then a float of four bits of mantissa."""
    lengths = list(range(24))
    for code in range(256 - 24):
        bits, shift = code & 7, (code >> 3) - 1
        lengths.append(24 + (bits if shift < 0 else (bits | 8) << shift))
    return lengths


_LENGTHS = _list_lengths()
