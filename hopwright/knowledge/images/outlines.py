"""Outlines of countries, drawn from the npm package `world-atlas` (Natural Earth, public domain).

The atlas is TopoJSON: borders are arcs of quantised, delta-encoded points, and a country is a list of rings of arcs. A
country is drawn by Lambert's azimuthal equal-area projection around the middle of its largest part, so that neither its
place on a map nor the date line bends it. Parts that are small and far away (overseas territories) are left out: the
outline would be a dot. A country of which so much would be missing that its outline is another's (one of two islands)
has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, show_misfit
from hopwright.knowledge.images.codes import read_country_codes
from hopwright.knowledge.images.packages import ATLAS, COUNTRIES, fetch_package, read_archive
from hopwright.knowledge.images.pictures import FoundPicture, PictureName
from hopwright.knowledge.images.rendering import Part, Ring, draw_outline, encode_png, measure_area, measure_ink

_FILE = "countries-50m.json"
_DRAWN = 512
_FEWEST_POINTS = 24
_LEAST_INK = 0.12
"""A shape of fewer points, or one that covers less of its square (islands far apart), nobody would recognise."""
_NEAR = 1.35
"""So many times as far from the middle as the largest part reaches, every other part still belongs to the outline."""
_SEEN, _FARTHEST = 0.01, 3.0
"""A part that has this share of the largest one's area is seen, and belongs to the outline so far away."""
_LARGE = 0.2
"""A part that has this share of the largest one's area is drawn wherever it lies."""
_MISSED, _OVERSEAS = 0.04, 0.31
"""A part of this share would be missed, unless it lies so many radii of the Earth away (2,000 km): nobody draws
French Guiana with France."""


class OutlinePictures:
    """One picture of each country whose shape has detail enough."""

    name = "world-atlas"

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def read_pictures(self) -> Iterator[FoundPicture]:
        """See PictureSource."""
        files = read_archive(fetch_package(ATLAS, self._cache))
        codes = read_country_codes(read_archive(fetch_package(COUNTRIES, self._cache)))
        names = {one.numeric: one.names if one.independent else () for one in codes}
        for code, parts in read_shapes(files[_FILE]):
            shape = project_shape(parts)
            if code not in names or sum(len(outer) for outer, *_ in shape) < _FEWEST_POINTS:
                continue
            drawn = draw_outline(shape, _DRAWN)
            if measure_ink(drawn) < _LEAST_INK:
                continue
            yield FoundPicture(
                kind="outline",
                name=PictureName(names=names[code], kind="country"),
                data=encode_png(drawn),
                media_type="image/png",
                licence=ATLAS.licence,
                author="Natural Earth; drawn by Hopwright",
                origin=f"npm {ATLAS.name} {ATLAS.version} {_FILE}#{code}",
            )


def read_shapes(data: bytes) -> Iterator[tuple[str, list[Part]]]:
    """Numeric ISO code and parts (rings of longitude and latitude in degrees) of each country, by their codes.

    Raises InputError for what is no TopoJSON of that layout.
    """
    try:
        atlas = load_json(data)
        arcs = [_decode_arc(arc, atlas["transform"]) for arc in atlas["arcs"]]
        shapes = [(str(one["id"]), one) for one in atlas["objects"]["countries"]["geometries"] if "id" in one]
        for code, one in sorted(shapes, key=lambda pair: pair[0]):
            polygons = {"Polygon": [one["arcs"]], "MultiPolygon": one["arcs"]}[one["type"]]
            yield code, [tuple(_join_arcs(ring, arcs) for ring in polygon) for polygon in polygons]
    except (JsonError, KeyError, TypeError, IndexError, ValueError) as error:
        raise InputError(f"world-atlas: {_FILE} is not the layout that is read ({show_misfit(error)})") from None


def project_shape(parts: Sequence[Part]) -> list[Part]:
    """The parts in a plane around the largest of them, without small parts far away; none where one would be missed."""
    first = max(parts, key=lambda part: len(part[0]))
    flat = _project_around(first, parts)
    # Once more, around the middle of what is the largest in the plane.
    flat = _project_around(parts[flat.index(max(flat, key=_measure_part))], parts)
    largest = max(flat, key=_measure_part)
    reach, whole = _measure_reach(largest), _measure_part(largest)
    kept = []
    for part in flat:
        share, far = _measure_part(part) / whole, _measure_reach(part)
        if share >= _LARGE or far <= _NEAR * reach or (share >= _SEEN and far <= _FARTHEST * reach):
            kept.append(part)
        elif share >= _MISSED and far <= _OVERSEAS:
            return []
    return kept


def _project_around(middle: Part, parts: Sequence[Part]) -> list[Part]:
    at = _find_middle(middle[0])
    return [tuple([_project(point, at) for point in ring] for ring in part) for part in parts]


def _measure_part(part: Part) -> float:
    """The area that a part's outer ring encloses."""
    return measure_area(part[0])


def _measure_reach(part: Part) -> float:
    return max(math.hypot(*point) for point in part[0])


def _decode_arc(arc: Sequence[Sequence[int]], transform: Any) -> list[tuple[float, float]]:
    (sx, sy), (tx, ty) = transform["scale"], transform["translate"]
    x = y = 0
    points = []
    for dx, dy in arc:
        x, y = x + dx, y + dy
        points.append((x * sx + tx, y * sy + ty))
    return points


def _join_arcs(indices: Sequence[int], arcs: Sequence[list[tuple[float, float]]]) -> Ring:
    """One ring from its arcs; arc ~i is arc i read backwards (TopoJSON, section 2.1.4)."""
    points: list[tuple[float, float]] = []
    for index in indices:
        arc = arcs[index] if index >= 0 else arcs[~index][::-1]
        points += arc if not points else arc[1:]
    return points


def _find_middle(ring: Ring) -> tuple[float, float]:
    """The direction of the mean of a ring's points on the sphere, in degrees: the date line does not matter to it."""
    vectors = [_to_vector(*point) for point in ring]
    x, y, z = (sum(part) for part in zip(*vectors, strict=True))
    return math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))


def _to_vector(longitude: float, latitude: float) -> tuple[float, float, float]:
    λ, φ = math.radians(longitude), math.radians(latitude)
    return math.cos(φ) * math.cos(λ), math.cos(φ) * math.sin(λ), math.sin(φ)


def _project(point: tuple[float, float], middle: tuple[float, float]) -> tuple[float, float]:
    λ, φ = math.radians(point[0] - middle[0]), math.radians(point[1])
    φ0 = math.radians(middle[1])
    cosine = math.sin(φ0) * math.sin(φ) + math.cos(φ0) * math.cos(φ) * math.cos(λ)
    k = math.sqrt(2 / max(1 + cosine, 1e-9))
    return (
        k * math.cos(φ) * math.sin(λ),
        k * (math.cos(φ0) * math.sin(φ) - math.sin(φ0) * math.cos(φ) * math.cos(λ)),
    )
