"""A bank of claims: a file of JSON lines, read whole, held to the rules, written in one order."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.foreign import read_file, show_invalid
from hopwright.knowledge.external.rules import find_faults
from hopwright.records import Claim, Rejected
from hopwright.runs import write_file
from hopwright.text.matching import fold

_LONGEST = 500
_MOST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class ValidatedClaims:
    """The claims that can be used, in the order of their ids, and the others with check and reason."""

    claims: tuple[Claim, ...] = ()
    refused: tuple[Rejected, ...] = ()


@dataclass(slots=True)
class ClaimValidator:
    """Takes claims one by one, keeps those that can be used, and finds those that say the same or contradict.

    Of two that give one phrase two values neither is kept, but for claims that were `settled` before: what contradicts
    one of them is refused alone.
    """

    _kept: dict[str, tuple[Claim, str]] = field(default_factory=dict)
    _settled: frozenset[str] = frozenset()
    _disputed: dict[str, str] = field(default_factory=dict)
    _refused: list[Rejected] = field(default_factory=list)

    def settle(self, claims: Iterable[Claim]) -> None:
        """Claims that are in the bank already."""
        for claim in claims:
            self._kept[fold(claim.phrase)] = (claim, "the bank")
        self._settled = frozenset(self._kept)

    def add(self, claim: Claim, key: str, row: str = "") -> bool:
        """One more claim, which `key` names (`line 3`); returns whether it can be used, as far as is known yet."""
        row = row or claim.model_dump_json()
        fault = next(find_faults(claim), "")
        if fault:
            self.refuse(key, "claim", fault, row)
            return False
        place = fold(claim.phrase)
        if place in self._disputed:
            self.refuse(key, "claim_contradiction", f"{claim.phrase!r}: {self._disputed[place]}", row)
            return False
        if place not in self._kept:
            self._kept[place] = (claim, key)
            return True
        other, where = self._kept[place]
        if (other.number, other.unit) == (claim.number, claim.unit):
            self.refuse(key, "claim_duplicate", f"{claim.phrase!r} is in {where} already", row)
            return False
        values = f"{other.value} {other.unit}".rstrip() + f" in {where}, " + f"{claim.value} {claim.unit}".rstrip()
        reason = f"{values} in {key}"
        self.refuse(key, "claim_contradiction", f"{claim.phrase!r}: {reason}", row)
        if place not in self._settled:
            del self._kept[place]
            self._disputed[place] = reason
            self.refuse(where, "claim_contradiction", f"{claim.phrase!r}: {reason}", other.model_dump_json())
        return False

    def refuse(self, key: str, check: str, reason: str, row: str = "") -> None:
        """Something that is no usable claim."""
        self._refused.append(Rejected(key=key, check=check, reason=reason, row=row[:_LONGEST]))

    def finish(self) -> ValidatedClaims:
        """What is left."""
        claims = sorted((claim for claim, _ in self._kept.values()), key=lambda claim: claim.id)
        return ValidatedClaims(tuple(claims), tuple(self._refused))


def validate_bank(path: Path) -> ValidatedClaims:
    """Read a bank and keep what can be used. Raises InputError only where the file cannot be read."""
    validator = ClaimValidator()
    for number, line in enumerate(_read(path).split("\n"), start=1):
        if line.strip():
            _validate_line(validator, f"line {number}", line)
    return validator.finish()


def read_bank(path: Path) -> tuple[Claim, ...]:
    """The claims of a bank in the order of their ids.

    Raises InputError naming the file and the first line that cannot be used, and how many more there are.
    """
    validated = validate_bank(path)
    if validated.refused:
        first = validated.refused[0]
        more = (
            f" (and {len(validated.refused) - 1:,} more: `hopwright claims check`)"
            if len(validated.refused) > 1
            else ""
        )
        raise InputError(f"{path}, {first.key}: {first.reason}{more}")
    if not validated.claims:
        raise InputError(f"{path}: no claims in it")
    return validated.claims


def format_bank(claims: Iterable[Claim]) -> str:
    """Claims as JSON lines, in the order of their ids: the same claims give the same text."""
    return "".join(f"{claim.model_dump_json()}\n" for claim in sorted(claims, key=lambda one: one.id))


def parse_bank(text: str) -> tuple[Claim, ...]:
    """What `format_bank` wrote."""
    return tuple(Claim.model_validate_json(line) for line in text.split("\n") if line)


def hash_bank(claims: Sequence[Claim]) -> str:
    """SHA-256 of a bank's content, whatever the order of its lines."""
    return hashlib.sha256(format_bank(claims).encode()).hexdigest()


def write_bank(claims: Iterable[Claim], path: Path) -> None:
    """Write a bank, whole or not at all. Raises RunError when the place cannot be written."""
    write_file(path, format_bank(claims).encode())


def refused_path(path: Path) -> Path:
    """Where what was refused for a bank is kept: `claims.rejected.jsonl` beside `claims.jsonl`."""
    return path.with_name(f"{path.stem}.rejected.jsonl")


def write_refused_claims(refused: Sequence[Rejected], path: Path) -> Path | None:
    """Write what was refused beside a bank, after what is there already; returns the file, None without any."""
    if not refused:
        return None
    place = refused_path(path)
    known = place.read_text("utf-8").split("\n") if place.exists() else []
    known = [line for line in known if line]
    lines = dict.fromkeys([*known, *(one.model_dump_json() for one in refused)])
    write_file(place, "".join(f"{line}\n" for line in lines).encode())
    return place


def _validate_line(validator: ClaimValidator, key: str, line: str) -> None:
    try:
        claim = Claim.model_validate_json(line)
    except ValidationError as error:
        validator.refuse(key, "claim_schema", f"no claim: {show_invalid(error)}", line)
        return
    validator.add(claim, key, line)


def _read(path: Path) -> str:
    try:
        return read_file(path, _MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def describe_refused(refused: Iterable[Rejected]) -> dict[str, int]:
    """How many were refused, by check."""
    return dict(sorted(Counter(one.check for one in refused).items()))
