"""What is in an SVG file, read before it is drawn: only what can be drawn without reading anything else.

The renderer opens whatever file an `image` or a `feImage` names, and gives up the whole process where a picture asks
for too much. So a file is read as XML here, as the renderer reads it, and has to consist of known elements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.parsers import expat

_SVG = "http://www.w3.org/2000/svg"
_MOST_DEPTH = 256
_MOST_ELEMENTS = 500_000
_MOST_RATIO = 100.0
_MOST_OCTAVES = 16
"""Of noise; an octave beyond the tenth is smaller than a pixel."""
_TYPE = frozenset(
    "text textPath tref tspan altGlyph flowDiv flowLine flowPara flowRegion flowRoot flowSpan flowTref".split()
)
_REFUSED = frozenset("feImage foreignObject image script".split())
_DRAWN = frozenset(
    """
    a circle clipPath defs desc ellipse feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix
    feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
    feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile
    feTurbulence filter g line linearGradient marker mask metadata path pattern polygon polyline radialGradient rect
    stop style svg switch symbol title use view
    """.split()
)
_PASSED_OVER = frozenset(
    """
    animate animateColor animateMotion animateTransform cursor discard font font-face font-face-format font-face-name
    font-face-src glyph glyphRef hatch hatchpath hkern mesh meshgradient meshpatch meshrow missing-glyph mpath set
    solidColor solidcolor unknown vkern
    """.split()
)
_KNOWN = _DRAWN | _PASSED_OVER | _TYPE
_LENGTH = re.compile(r"\s*([+-]?[0-9]{0,30}\.?[0-9]{0,30}(?:[eE][+-]?[0-9]{1,3})?)\s*(px|pt|pc|mm|cm|in|em|ex)?\s*")
_UNITS = {"px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0, "em": 16.0, "ex": 8.0}


class SvgError(ValueError):
    """Why an SVG file is not drawn, in one line."""


def check_svg(text: str) -> None:
    """Raise SvgError for what is no SVG, names other files, or asks for more than a picture needs."""
    _Inspector().read(text)


def sets_type(text: str) -> bool:
    """Whether an SVG file sets type. One that is not drawn counts as such: nothing is known of it."""
    inspector = _Inspector()
    try:
        inspector.read(text)
    except SvgError:
        return True
    return inspector.type_found


class _Inspector:
    """Reads one file."""

    def __init__(self) -> None:
        self.type_found = False
        self._depth = self._elements = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_definitions

    def read(self, text: str) -> None:
        """Raises SvgError."""
        try:
            # The renderer passes over blanks before the declaration, too.
            self._parser.Parse(text.strip(), True)
        except expat.ExpatError as error:
            raise SvgError(f"not an SVG picture ({error})") from None

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > _MOST_DEPTH:
            raise SvgError(f"an SVG of more than {_MOST_DEPTH} levels is not drawn")
        if self._elements > _MOST_ELEMENTS:
            raise SvgError(f"an SVG of more than {_MOST_ELEMENTS:,} elements is not drawn")
        space, _, local = name.rpartition(" ")
        if local in _REFUSED:
            raise SvgError("an SVG with pictures or scripts in it is not drawn")
        self.type_found |= local in _TYPE
        if self._elements == 1:
            if local != "svg":
                raise SvgError("not an SVG picture (its first element is another)")
            _check_ratio(attributes)
        # What belongs to other vocabularies, such as those of drawing programs, the renderer passes over.
        if space not in ("", _SVG):
            return
        if local not in _KNOWN:
            raise SvgError(f"an SVG with the element {local[:40]!r} is not drawn")
        if local != "a" and any(_leads_away(key, value) for key, value in attributes.items()):
            raise SvgError("an SVG that refers to other files is not drawn")
        if local == "feTurbulence" and (_read_length(attributes.get("numOctaves", "")) or 0) > _MOST_OCTAVES:
            raise SvgError(f"an SVG with noise of more than {_MOST_OCTAVES} octaves is not drawn")

    def _end(self, _: str) -> None:
        self._depth -= 1

    def _refuse_definitions(self, _: str, __: str | None, ___: str | None, inside: bool) -> None:
        if inside:
            raise SvgError("an SVG with definitions of its own in its DOCTYPE is not drawn")


def _leads_away(attribute: str, value: str) -> bool:
    """Whether an attribute names something outside the file."""
    return attribute.rpartition(" ")[2] == "href" and value.strip()[:1] not in ("", "#")


def _check_ratio(attributes: Mapping[str, str]) -> None:
    """Raise SvgError for a picture that is far longer than wide, or the other way round."""
    width, height = (_read_length(attributes.get(name, "")) for name in ("width", "height"))
    if width is None or height is None:
        # Of one that is missing, or given in per cent, the view box decides.
        numbers = attributes.get("viewBox", "").replace(",", " ").split()
        width, height = map(_read_length, numbers[2:]) if len(numbers) == 4 else (None, None)
    if width and height and not 1 / _MOST_RATIO <= abs(height / width) <= _MOST_RATIO:
        raise SvgError(f"an SVG that is more than {_MOST_RATIO:.0f} times as long as wide, or as wide as long")


def _read_length(text: str) -> float | None:
    """A length in pixels; None for none, and for what is not absolute."""
    found = _LENGTH.fullmatch(text[:100])
    try:
        return float(found[1]) * _UNITS[found[2] or "px"] if found else None
    except ValueError:
        return None
