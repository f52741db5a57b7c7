"""`hopwright cache …`: what has been paid for."""

from flows.console.output import out, print_json
from hopwright.errors import InputError
from hopwright.llm.store import Store
from hopwright.settings import home


def show_stats(*, as_json: bool) -> None:
    """What the cache holds."""
    with _open() as store:
        stats = store.stats().to_dict()
    if as_json:
        print_json(stats)
    else:
        for name, value in stats.items():
            out.out(f"{name:20} {value}")


def prune(older_than_days: float | None, provider: str, model: str) -> None:
    """Drop answers, and say how many."""
    with _open() as store:
        out.out(f"{store.prune(older_than_days, provider, model):,} answers dropped")


def _open() -> Store:
    path = home() / "llm.sqlite"
    if not path.exists():
        raise InputError(f"no model has been asked yet: there is no cache at {path}")
    return Store(path)
