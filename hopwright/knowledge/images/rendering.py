"""From foreign picture bytes to a PNG of one size, with the same bytes each time.

What can be opened is bounded before it is decoded, so that a hostile file costs little: bytes of the file, pixels of
the picture. A PNG is written by Pillow without any metadata, so its bytes follow from its pixels and Pillow's version.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence

from PIL import Image, ImageDraw

from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.knowledge.images.svg_drawing import draw_svg
from hopwright.knowledge.images.svg_files import SvgError, check_svg, sets_type

MOST_BYTES = 32 << 20
_MOST_PIXELS = 40_000_000
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_BACKGROUND = (255, 255, 255)
_INK = (40, 60, 90)
_FILL = (170, 190, 215)
_OVERSAMPLED = 2
_WHITE = 245

Ring = Sequence[tuple[float, float]]
"""A closed line in any flat coordinates, y upwards."""
Part = Sequence[Ring]
"""One piece of land: its outer line, and those of the holes in it."""


def render(data: bytes, media_type: str, size: int, what: str) -> Image.Image:
    """A picture whose longer side has `size` pixels, on white. `what` names it in errors.

    Raises InputError for bytes that are no such picture or too large, and where what draws SVG is not installed.
    """
    if len(data) > MOST_BYTES:
        raise InputError(f"{what}: a picture of {len(data):,} bytes; at most {MOST_BYTES:,} are read")
    if media_type == "image/svg+xml":
        return _flatten(_render_svg(data, size, what), size)
    return _flatten(_open_raster(data, what), size)


def encode_png(image: Image.Image) -> bytes:
    """The picture as PNG, nothing but its pixels in it."""
    held = io.BytesIO()
    image.convert("RGB").save(held, "PNG", optimize=False, compress_level=9)
    return held.getvalue()


def decode_png(data: bytes) -> Image.Image:
    """A picture that `encode_png` wrote. Raises InputError for anything else."""
    return _open_raster(data, "a stored picture").convert("RGB")


def draw_outline(parts: Sequence[Part], size: int) -> Image.Image:
    """Pieces of land as one filled shape with its holes, scaled to fit, on white."""
    xs = [x for outer, *_ in parts for x, _ in outer]
    ys = [y for outer, *_ in parts for _, y in outer]
    width, height = max(xs) - min(xs), max(ys) - min(ys)
    large = size * _OVERSAMPLED
    margin = large // 20
    scale = (large - 2 * margin) / max(width, height, 1e-9)
    left = (large - width * scale) / 2
    top = (large - height * scale) / 2
    canvas = Image.new("RGB", (large, large), _BACKGROUND)
    draw = ImageDraw.Draw(canvas)
    # The largest first, so that what lies in a hole is drawn after it.
    for part in sorted(parts, key=lambda one: -measure_area(one[0])):
        for place, ring in enumerate(part):
            points = [(left + (x - min(xs)) * scale, top + (max(ys) - y) * scale) for x, y in ring]
            if len(points) > 2:
                draw.polygon(points, fill=_BACKGROUND if place else _FILL)
                draw.line([*points, points[0]], fill=_INK, width=_OVERSAMPLED)
    return canvas.resize((size, size), Image.Resampling.BOX)


def measure_area(ring: Ring) -> float:
    """The area of a ring in its own units (Gauss's formula)."""
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True))) / 2


def measure_ink(image: Image.Image) -> float:
    """The share of a picture's pixels that are not white, 0 to 1."""
    histogram = image.convert("L").point(lambda level: 0 if level > _WHITE else 1).histogram()
    return histogram[1] / (image.width * image.height)


def writes_text(svg: bytes) -> bool:
    """Whether an SVG file sets type: such a picture may name what it shows."""
    return sets_type(svg.decode("utf-8", "replace"))


def _render_svg(data: bytes, size: int, what: str) -> Image.Image:
    text = data.decode("utf-8", "replace")
    try:
        check_svg(text)
        drawn = draw_svg(text, size)
    except SvgError as error:
        raise InputError(f"{what}: {error}") from None
    return _open_raster(drawn, what)


def _open_raster(data: bytes, what: str) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            if image.width * image.height > _MOST_PIXELS:
                raise InputError(f"{what}: {image.width} x {image.height} pixels; at most {_MOST_PIXELS:,} are read")
            image.load()
            return image
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InputError(f"{what}: not a picture that can be read ({show(error)})") from None


def _flatten(image: Image.Image, size: int) -> Image.Image:
    """On white, so large that its longer side has `size` pixels."""
    held = image.convert("RGBA")
    canvas = Image.new("RGBA", held.size, (*_BACKGROUND, 255))
    canvas.alpha_composite(held)
    ratio = size / max(held.size)
    width, height = (max(1, round(side * ratio)) for side in held.size)
    return canvas.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
