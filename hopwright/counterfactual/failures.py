"""Why an item got no twin."""

from __future__ import annotations


class TwinError(Exception):
    """No twin can be made of an item: the check that says so, and why. It becomes a `Rejected`, never a crash."""

    def __init__(self, check: str, reason: str) -> None:
        super().__init__(reason)
        self.check = check
        self.reason = reason
