"""The few named errors that cross Hopwright's boundaries.

Every one of them is a user's line: it says what is wrong, where, and what to do. The command line prints
it without a traceback and exits with 1.
"""

from __future__ import annotations


class HopwrightError(Exception):
    """A mistake or a circumstance that the user can act on; its text is shown as it is."""


class InputError(HopwrightError):
    """A file or a parameter that cannot be used: missing, truncated, malformed, out of range."""


class StoreError(HopwrightError):
    """A graph store that is missing, of another version, or damaged."""


class RunError(HopwrightError):
    """A run folder that cannot be written, or that belongs to other parameters."""


class ExpressionError(HopwrightError):
    """A derivation that cannot be evaluated: unknown name, forbidden construct, missing fact."""


class ServiceError(HopwrightError):
    """An outside service (Label Studio, a SPARQL endpoint, a model) that is down or refuses."""


class BudgetError(HopwrightError):
    """The next request could exceed the run's budget; what was paid for is kept and the run can be continued.

    `fact` is what happened, without what to do about it on the command line.
    """

    def __init__(self, message: str, fact: str = "") -> None:
        super().__init__(message)
        self.fact = fact

    def __reduce__(self) -> tuple[type[BudgetError], tuple[str, str]]:
        """Keep the fact where the error crosses processes."""
        return type(self), (str(self), self.fact)
