"""`hopwright cache …`: what has been paid for."""

import datetime as dt

from flows.console.output import out, print_json
from hopwright.errors import InputError
from hopwright.llm.store import Store
from hopwright.settings import home


def show_stats(*, as_json: bool) -> None:
    """What the cache holds."""
    with _open() as store:
        stats = store.stats()
    if as_json:
        print_json(stats.to_dict())
        return
    out.out(f"{stats.answers:,} answers, paid for with {stats.cost_usd:,.4f} dollars; {stats.bytes / 1e6:,.1f} MB")
    out.out(f"{stats.failures:,} requests without an answer; another run asks them again, their transcripts are kept")
    for model, answers, cost in stats.by_model:
        out.out(f"  {model}: {answers:,} answers, {cost:,.4f} dollars")
    if stats.oldest is not None and stats.newest is not None:
        out.out(f"from {_write_day(stats.oldest)} to {_write_day(stats.newest)}")


def prune(older_than_days: float | None, provider: str, model: str, *, failed: bool) -> None:
    """Drop answers, and what is known of requests that got none, and say how many."""
    with _open() as store:
        answers, without = store.prune(older_than_days, provider, model, failed=failed)
        out.out(f"{answers:,} answers dropped, {without:,} requests without an answer may be asked again")


def _write_day(moment: float) -> str:
    return dt.datetime.fromtimestamp(moment).astimezone().isoformat(" ", "minutes")


def _open() -> Store:
    path = home() / "llm.sqlite"
    if not path.exists():
        raise InputError(f"no model has been asked yet: there is no cache at {path}")
    return Store(path)
