"""Back-translation (CofCA's second stage): a pivot language's round trip proposes another wording.

Offline the pivot is Apertium's Spanish, a rule-based translator. Whatever goes wrong with it (not installed, a
time-out, a sentence lost) leaves the stage-one texts as they are, and says so on every item.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hopwright.counterfactual.gates import Reworded, find_pivot_word, mask, take_edits
from hopwright.errors import ServiceError
from hopwright.records import CheckResult, Item

_CHUNK = 2_000


class BackTranslator(Protocol):
    """A round trip through another language. `name` goes into the provenance, e.g. `apertium eng-spa-eng`."""

    name: str

    def find_obstacle(self) -> str:
        """Why it cannot run here; empty when it can."""
        ...

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The texts after the round trip, one for one. Raises ServiceError when that cannot be had."""
        ...


class ApertiumBackTranslator:
    """English → Spanish → English through the `apertium` command, many sentences a process: its start costs most.

    timeout: seconds that one call with up to 2,000 sentences may take.
    """

    name = "apertium eng-spa-eng"
    _PAIRS = ("eng-spa", "spa-eng")

    def __init__(self, *, command: str = "apertium", timeout: float = 300.0) -> None:
        self._command = command
        self._timeout = timeout

    def find_obstacle(self) -> str:
        """Why it cannot run here; empty when it can."""
        if shutil.which(self._command) is None:
            return "apertium is not installed (Debian: apt-get install apertium apertium-eng-spa)"
        try:
            listed = self._run(["-l"], "").split()
        except ServiceError as error:
            return str(error)
        missing = [pair for pair in self._PAIRS if pair not in listed]
        if missing:
            return f"apertium lacks {' and '.join(missing)} (Debian: apt-get install apertium-eng-spa)"
        return ""

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The texts after the round trip. Raises ServiceError when a call fails or sentences are lost or joined."""
        out: list[str] = []
        for start in range(0, len(texts), _CHUNK):
            chunk = texts[start : start + _CHUNK]
            # A blank line ends a sentence for the tagger, and survives both directions.
            stream = "\n\n".join(" ".join(text.split()) for text in chunk) + "\n"
            for pair in self._PAIRS:
                stream = self._run(["-u", pair], stream)
            back = [" ".join(block.split()) for block in stream.strip("\n").split("\n\n")]
            if len(back) != len(chunk):
                raise ServiceError(f"apertium gave {len(back)} sentences back for {len(chunk)}")
            out += back
        return out

    def _run(self, arguments: Sequence[str], stdin: str) -> str:
        try:
            done = subprocess.run(
                [self._command, *arguments],
                input=stdin,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=self._timeout,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ServiceError(f"apertium took longer than {self._timeout:g} s") from None
        except (OSError, UnicodeDecodeError) as error:
            raise ServiceError(f"apertium cannot be run: {error}") from None
        if done.returncode != 0:
            why = (done.stderr or done.stdout).strip().splitlines()
            raise ServiceError(f"apertium failed with code {done.returncode}: {why[0] if why else 'no message'}")
        return done.stdout


@dataclass(frozen=True, slots=True)
class Returned:
    """An item's texts after the round trip, in the order question, sub-questions; or why there are none."""

    texts: tuple[Reworded, ...] = ()
    skipped: str = ""


def back_translate(items: Sequence[Item], translator: BackTranslator) -> list[Returned]:
    """Send the questions of all items through the translator at once; one result per item, and never an exception.

    An obstacle or a failed call skips all items with the reason.
    """
    skipped = translator.find_obstacle()
    masked = []
    if not skipped:
        try:
            masked = [
                mask(text, names)
                for item in items
                for names in [sorted({one.surrogate for one in item.world if any(map(str.isalpha, one.surrogate))})]
                for text in list_questions(item)
            ]
            back = translator.translate([one.text for one in masked])
        except (ServiceError, ValueError) as error:
            skipped = str(error)
    if skipped:
        return [Returned(skipped=skipped) for _ in items]
    pairs = iter(zip(masked, back, strict=True))
    return [Returned(tuple(take_edits(*next(pairs)) for _ in list_questions(item))) for item in items]


def adopt(item: Item, returned: Returned, translator: str) -> Item:
    """The item with the texts that passed, its provenance, and the check `back_translation`.

    pass: the question was reworded; fail: it kept its stage-one text, and why; skip: nothing could be translated.
    """
    if returned.skipped:
        return _note(item, CheckResult(name="back_translation", outcome="skip", reason=returned.skipped))
    texts = [
        text if not find_pivot_word(text.text, original) and text.text.endswith("?") else None
        for text, original in zip(returned.texts, list_questions(item), strict=True)
    ]
    question, *subs = (text if text is not None and text.kept else None for text in texts)
    first = returned.texts[0]
    figures = (
        f"overlap {first.overlap:.2f}, {first.kept} of {first.kept + first.refused} changes kept; "
        f"{sum(sub is not None for sub in subs)} of {len(subs)} sub-questions reworded"
    )
    if question is not None:
        result = CheckResult(name="back_translation", outcome="pass", reason=figures)
    else:
        why = first.reason or "a word of the pivot language is left"
        result = CheckResult(name="back_translation", outcome="fail", reason=f"{why}; {figures}")
    hops = tuple(
        hop if sub is None else hop.model_copy(update={"question": sub.text})
        for hop, sub in zip(item.hops, subs, strict=True)
    )
    used = translator if question is not None or any(subs) else ""
    reworded = item.model_copy(
        update={
            "question": item.question if question is None else question.text,
            "hops": hops,
            "provenance": item.provenance.model_copy(update={"back_translation": used}),
        }
    )
    return _note(reworded, result)


def list_questions(item: Item) -> list[str]:
    """The question and the sub-questions."""
    return [item.question, *(hop.question for hop in item.hops)]


def _note(item: Item, result: CheckResult) -> Item:
    kept = tuple(check for check in item.checks if check.name != result.name)
    return item.model_copy(update={"checks": (*kept, result)})
