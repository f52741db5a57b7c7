"""Named things of one kind: those that ship with Hopwright, and those that other installed packages add."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from hopwright.errors import InputError

_T = TypeVar("_T")


class Registry(Mapping[str, _T], Generic[_T]):
    """Maps names to objects: first the built-in ones in their order, then those of entry points by name.

    `group` is the entry-point group in which other packages declare theirs (`[project.entry-points."hopwright.checks"]`
    in a `pyproject.toml`). `paths` are built-in objects that are imported when they are first asked for, written as
    `module:attribute`. `what` names one of the things in errors.
    """

    def __init__(
        self, group: str, what: str, built_in: Mapping[str, _T] | None = None, paths: Mapping[str, str] | None = None
    ) -> None:
        self._group = group
        self._what = what
        self._loaded = dict(built_in or {})
        self._built_in = (*self._loaded, *(paths or {}))
        self._paths = {name: EntryPoint(name, path, group) for name, path in (paths or {}).items()}

    def __getitem__(self, name: str) -> _T:
        if name not in self._loaded:
            point = self._paths.get(name) or self._found[name]
            self._loaded[name] = self._load(point)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._found

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from self._found

    def __len__(self) -> int:
        return len(list(iter(self)))

    def find(self, name: str) -> _T:
        """Return the object of that name. Raises InputError that lists the known names."""
        try:
            return self[name]
        except KeyError:
            raise InputError(f"unknown {self._what} {name!r}; known: {', '.join(self)}") from None

    @functools.cached_property
    def _found(self) -> dict[str, EntryPoint]:
        """The entry points of other packages by name. Raises InputError where one takes a name that is taken."""
        found: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self._group), key=lambda one: (one.name, one.value)):
            if point.name in found or point.name in self._built_in:
                raise InputError(f"two packages call a {self._what} {point.name!r} (entry points of {self._group})")
            found[point.name] = point
        return found

    def _load(self, point: EntryPoint) -> _T:
        try:
            return cast("_T", point.load())
        except (ImportError, AttributeError) as error:
            raise InputError(f"the {self._what} {point.name!r} cannot be loaded from {point.value}: {error}") from None
