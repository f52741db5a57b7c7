"""Apertium as a back-translator: rules and dictionaries, no weights, no keys."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from hopwright.counterfactual.translating import MaskStyle, RoundTripResult
from hopwright.errors import ServiceError

_CHUNK = 2_000


class ApertiumBackTranslator:
    """English → Spanish → English through the `apertium` command, many sentences a process: its start costs most.

    timeout: seconds that one call with up to 2,000 sentences may take. It mangles more than it rewords, so its texts
    are taken edit by edit only. A sentence in fifty comes out otherwise among other sentences: what is rewritten
    depends on the shard that it is in, which a run keeps.
    """

    name = "apertium eng-spa-eng"
    pivots = ("Spanish",)
    style: MaskStyle = "words"
    whole = False
    tries = 1
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

    def translate(self, texts: Sequence[str], attempt: int = 0) -> list[RoundTripResult]:
        """The texts after the round trip. Raises ServiceError when a call fails or sentences are lost or joined."""
        # With their names masked, many sentences that rules made are one and the same.
        unique = list(dict.fromkeys(texts))
        out: list[RoundTripResult] = []
        for start in range(0, len(unique), _CHUNK):
            chunk = unique[start : start + _CHUNK]
            # A blank line ends a sentence for the tagger, and survives both directions.
            stream = "\n\n".join(" ".join(text.split()) for text in chunk) + "\n"
            for pair in self._PAIRS:
                stream = self._run(["-u", pair], stream)
            back = [" ".join(block.split()) for block in stream.strip("\n").split("\n\n")]
            if len(back) != len(chunk):
                raise ServiceError(f"apertium gave {len(back)} sentences back for {len(chunk)}")
            out += [RoundTripResult(text) for text in back]
        by_text = dict(zip(unique, out, strict=True))
        return [by_text[text] for text in texts]

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
