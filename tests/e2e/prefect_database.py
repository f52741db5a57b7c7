"""A database for Prefect's server on Debian's PostgreSQL, for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.e2e.postgres import Postgres, find_programs, run_postgres

MISSING = "" if find_programs() else "Debian's postgresql is not installed"
_NAME = "prefect"


@dataclass(frozen=True)
class Database:
    """A server's database `prefect`."""

    server: Postgres
    address: str

    @property
    def url(self) -> str:
        """As Prefect takes it."""
        return self.address.replace("postgresql://", "postgresql+asyncpg://", 1)

    def ask(self, query: str) -> list[str]:
        """The rows of one query, as psql prints them."""
        return self.server.ask(_NAME, query).splitlines()

    def cut_connections(self) -> int:
        """End every connection that a client holds; returns how many those were."""
        others = f"datname = '{_NAME}' AND pid <> pg_backend_pid()"
        return len(self.ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))


@contextmanager
def serve_postgresql() -> Iterator[Database]:
    """An empty database on a server of its own."""
    with run_postgres() as server:
        yield Database(server, server.make_database(_NAME))
