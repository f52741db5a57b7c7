"""Years in names."""

from __future__ import annotations

import re

_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)")


def name_states_year(label: str) -> bool:
    """Whether a label carries a year (`2013 Tour de France`), so that asking for its date would leak the answer."""
    return _YEAR.search(label) is not None
