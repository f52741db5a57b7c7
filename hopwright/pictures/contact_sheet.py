"""A contact sheet: many small pictures on one, to be looked at by a person."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw

_CELL = (150, 112)
_GAP = 8
_COLUMNS = 10
_GROUND = (225, 225, 225)
_LINE = (150, 150, 150)


def draw_contact_sheet(pictures: Sequence[Image.Image], columns: int = _COLUMNS) -> Image.Image:
    """The pictures in rows, each shrunk to fit its cell and with a thin line around it, without any names."""
    width, height = _CELL
    rows = -(-len(pictures) // columns)
    size = (columns * (width + _GAP) + _GAP, max(1, rows) * (height + _GAP) + _GAP)
    sheet = Image.new("RGB", size, _GROUND)
    draw = ImageDraw.Draw(sheet)
    for place, picture in enumerate(pictures):
        row, column = divmod(place, columns)
        small = picture.convert("RGB")
        small.thumbnail(_CELL, Image.Resampling.LANCZOS)
        left = _GAP + column * (width + _GAP) + (width - small.width) // 2
        top = _GAP + row * (height + _GAP) + (height - small.height) // 2
        draw.rectangle((left - 1, top - 1, left + small.width, top + small.height), outline=_LINE)
        sheet.paste(small, (left, top))
    return sheet
