"""SVG files of others: they read nothing, take down nobody, and are drawn as they always were."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

pytest.importorskip("resvg_py")

from hopwright.errors import InputError
from hopwright.knowledge.images.rendering import encode_png, render, writes_text
from hopwright.knowledge.images.svg_drawing import SvgDrawer, draw_svg
from hopwright.knowledge.images.svg_files import SvgError

RED = (255, 0, 0)
_NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
_NOISE = (
    '<filter id="f" x="-5000%" y="-5000%" width="10000%" height="10000%"><feTurbulence numOctaves="{}"/></filter>'
    '<rect width="64" height="64" filter="url(#f)"/>'
)


def svg(inside: str, more: str = 'viewBox="0 0 64 64"') -> str:
    return f"<svg {_NAMES} {more}>{inside}</svg>"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.png"
    Image.new("RGB", (64, 64), RED).save(path)
    return path


@pytest.fixture
def drawer() -> Iterator[SvgDrawer]:
    held = SvgDrawer(seconds=1)
    yield held
    held.close()


LEAKS = {
    "line feed": '<image\nwidth="64" height="64" href="{}"/>',
    "tab": '<image\twidth="64" height="64" xlink:href="{}"/>',
    "slash": '<image/><g xlink:href="{}"/>',
    "feImage": '<filter id="f"><feImage width="64" height="64" xlink:href="{}"/></filter>'
    '<rect width="64" height="64" filter="url(#f)"/>',
    "use": '<use href="{}#a"/>',
    "pattern": '<pattern id="p" href="file://{}"/>',
    "no namespace": '<g xmlns=""><image width="64" height="64" href="{}"/></g>',
    "prefix": '<s:image xmlns:s="http://www.w3.org/2000/svg" width="64" height="64" href="{}"/>',
    "unknown": '<picture href="{}"/>',
}


@pytest.mark.parametrize("kind", LEAKS)
def test_an_svg_that_names_a_file_is_not_drawn(kind: str, secret: Path) -> None:
    with pytest.raises(InputError, match=r"^hostile: an SVG .* is not drawn$"):
        render(svg(LEAKS[kind].format(secret)).encode(), "image/svg+xml", 64, "hostile")


def test_an_entity_holds_no_picture(secret: Path) -> None:
    kind = "<!DOCTYPE svg [<!ENTITY i \"<image width='64' height='64' href='{}'/>\">]>"
    with pytest.raises(InputError, match="definitions"):
        render((kind.format(secret) + svg("&i;")).encode(), "image/svg+xml", 64, "hostile")


@pytest.mark.parametrize("kind", ["line feed", "feImage", "no namespace"])
def test_what_draws_can_open_no_file(kind: str, secret: Path) -> None:
    """Should a picture name one in a way that is not found, the process that draws has none to give."""
    drawn = Image.open(io.BytesIO(draw_svg(svg(LEAKS[kind].format(secret)), 64))).convert("RGBA")
    assert drawn.getextrema()[3] == (0, 0)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (svg('<rect width="1" height="1"/>', 'viewBox="0 0 1 1000000"'), "100 times as long"),
        (svg('<rect width="1" height="1"/>', 'width="1" height="1e9"'), "100 times as long"),
        (svg('<rect width="1" height="1"/>', 'width="90in" height=".1mm"'), "100 times as long"),
        (svg('<rect width="1" height="1"/>', 'width="100%" height="100%" viewBox="0,0,1,300"'), "100 times as long"),
        (svg('<rect width="1" height="99999999"/>', ""), "1,024 MiB"),
        (svg('<rect width="1" height="200"/>', ""), "at most 40,000,000 are read"),
        (svg("<g>" * 100_000 + "</g>" * 100_000), "levels"),
        (svg("<g/>" * 500_001), "500,000 elements"),
        (svg(_NOISE.format(1_000_000)), "octaves"),
    ],
)
def test_an_svg_that_asks_for_too_much_is_one_line(file: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        render(file.encode(), "image/svg+xml", 512, "hostile")
    assert "\n" not in str(caught.value)
    assert render(svg('<rect width="64" height="64" fill="red"/>').encode(), "image/svg+xml", 8, "x").getpixel((3, 3))


def test_what_takes_the_drawing_process_down_is_one_line_and_the_next_is_drawn(drawer: SvgDrawer) -> None:
    good = svg('<rect width="64" height="64" fill="red"/>')
    first = drawer.draw(good, 64)
    for bad, said in (
        (svg('<rect width="1" height="1"/>', 'viewBox="0 0 1 1000000"'), "more than 1,024 MiB"),
        (svg("<g>" * 100_000 + "</g>" * 100_000), "too many levels"),
        (svg(_NOISE.format(1_000_000)), "more than 1 seconds"),
        ("<svg", "not an SVG"),
    ):
        with pytest.raises(SvgError, match=said):
            drawer.draw(bad, 512)
        assert drawer.draw(good, 64) == first


def test_many_pictures_are_drawn_by_one_process(drawer: SvgDrawer) -> None:
    files = [svg(f'<rect width="64" height="64" fill="#0000{number:02x}"/>') for number in range(40)]
    drawer.draw(files[0], 16)
    process = drawer._process
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda file: drawer.draw(file, 16), files))
    assert drawer._process is process
    found = [Image.open(io.BytesIO(one)).convert("RGB").getpixel((8, 8)) for one in drawn]
    assert found == [(0, 0, number) for number in range(40)]


def test_a_fork_draws_by_a_process_of_its_own() -> None:
    good = svg('<rect width="64" height="64" fill="red"/>')
    first = draw_svg(good, 64)
    child = os.fork()
    if child == 0:
        os._exit(0 if draw_svg(good, 64) == first else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert draw_svg(good, 64) == first


def test_a_renderer_that_is_missing_or_does_not_start_is_one_line(
    drawer: SvgDrawer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch, pytest.raises(InputError, match="cannot be started"):
        patch.setattr("hopwright.knowledge.images.svg_drawing._PAINTER", tmp_path / "none.py")
        drawer.draw(svg(""), 64)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="resvg-py"):
        drawer.draw(svg(""), 64)


def test_a_picture_keeps_its_bytes() -> None:
    """Clip paths, gradients, what is used again, a DOCTYPE, and what a drawing program adds."""
    inside = (
        '<sodipodi:namedview xmlns:sodipodi="http://sodipodi.sourceforge.net/x" href="x"/><metadata>x</metadata>'
        '<defs><linearGradient id="g"><stop offset="0" stop-color="#fff"/><stop offset="1" stop-color="#00f"/>'
        '</linearGradient><clipPath id="c"><circle cx="32" cy="32" r="30"/></clipPath><g id="s"><path d="M0 0h9v9z"/>'
        '</g></defs><a href="https://example.org"><rect width="64" height="64" fill="url(#g)" clip-path="url(#c)"/></a>'
        '<use xlink:href="#s" x="20" y="20"/>'
    )
    head = '\n<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://x/svg.dtd">'
    drawn = render((head + svg(inside)).encode(), "image/svg+xml", 64, "x")
    import resvg_py

    whole = Image.open(
        io.BytesIO(resvg_py.svg_to_bytes(svg_string=head + svg(inside), width=64, skip_system_fonts=True))
    )
    white = Image.new("RGBA", (64, 64), "white")
    white.alpha_composite(whole.convert("RGBA"))
    assert hashlib.sha256(encode_png(drawn)).digest() == hashlib.sha256(encode_png(white)).digest()


@pytest.mark.parametrize(
    "inside",
    [
        "<text>Chad</text>", "<text\nx='1'>Chad</text>", "<text\tx='1'>Chad</text>", "<g><tspan/></g>", "<textPath/>",
        "<s:text xmlns:s='http://www.w3.org/2000/svg'>Chad</s:text>", "<flowRoot\n/>", "<text/>",
    ],
)  # fmt: skip
def test_type_in_an_svg_is_found_however_it_is_written(inside: str) -> None:
    assert writes_text(svg(inside).encode())
    assert not writes_text(svg("<g id='text'/><!-- <text> --><title>text</title>").encode())
