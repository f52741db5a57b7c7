"""Pictures as they come in: drawn alike, bounded, linked with care, and compared with all others."""

from __future__ import annotations

import io
import json
import math
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from hopwright.errors import InputError, ServiceError, StoreError
from hopwright.knowledge.images.descriptors import (
    SAME,
    count_bits_apart,
    describe,
    group_alike,
    hash_picture,
    measure_distances,
    stack,
)
from hopwright.knowledge.images.flags import FlagPictures
from hopwright.knowledge.images.folder import FolderPictures
from hopwright.knowledge.images.linking import link_picture
from hopwright.knowledge.images.outlines import OutlinePictures, project_shape, read_shapes
from hopwright.knowledge.images.packages import COUNTRIES, FLAGS, NpmPackage, check_archive, read_archive
from hopwright.knowledge.images.pictures import FoundPicture, PictureName
from hopwright.knowledge.images.readable_text import find_name
from hopwright.knowledge.images.rendering import decode_png, draw_outline, encode_png, measure_ink, render
from hopwright.knowledge.images.store import PictureStore, build_store
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from tests.pictures.painted import paint, paint_folder

FRANCE, CHAD, ROMANIA, SPAIN = "Q142", "Q657", "Q218", "Q29"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='4' height='3'><rect width='4' height='3' fill='#c00'/></svg>"


@pytest.fixture(scope="module")
def source(sample: GraphStore, sample_kinds: KindIndex) -> WikidataSource:
    return WikidataSource(sample, kinds=sample_kinds)


@dataclass
class Gathered:
    """A source of pictures that are at hand."""

    pictures: list[FoundPicture]
    name: str = "gathered"

    def read_pictures(self) -> Iterator[FoundPicture]:
        yield from self.pictures


def stripes(*colours: str, size: tuple[int, int] = (90, 60)) -> Image.Image:
    """Upright stripes, as many flags have them."""
    flag = Image.new("RGB", (len(colours), 1))
    flag.putdata([Image.new("RGB", (1, 1), colour).getpixel((0, 0)) for colour in colours])
    return flag.resize(size, Image.Resampling.NEAREST)


def found(entity: str, image: Image.Image, kind: str = "flag") -> FoundPicture:
    """A picture as a source gives it."""
    name = PictureName(entity=entity)
    return FoundPicture(kind, name, encode_png(image), "image/png", "CC0-1.0", "somebody", f"file-{entity}")  # type: ignore[arg-type]


def test_the_same_picture_gives_the_same_bytes() -> None:
    drawn = [encode_png(render(encode_png(paint(FRANCE, "flag")), "image/png", 64, "x")) for _ in range(2)]
    assert drawn[0] == drawn[1]
    image = decode_png(drawn[0])
    assert max(image.size) == 64
    assert "dpi" not in image.info


@pytest.mark.parametrize(
    ("data", "media_type", "said"),
    [
        (b"no picture at all", "image/png", "not a picture"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "image/png", "not a picture"),
        (
            b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
            "image/svg+xml",
            "scripts",
        ),
        (b"<svg", "image/svg+xml", "not an SVG"),
    ],
)
def test_what_is_no_picture_is_refused(data: bytes, media_type: str, said: str) -> None:
    pytest.importorskip("resvg_py")
    with pytest.raises(InputError, match=said):
        render(data, media_type, 64, "hostile")


def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    held = io.BytesIO()
    Image.new("1", (8_000, 6_000)).save(held, "PNG")
    with pytest.raises(InputError, match="hostile"):
        render(held.getvalue(), "image/png", 64, "hostile")


def test_transparent_and_svg_pictures_stand_on_white() -> None:
    held = io.BytesIO()
    Image.new("RGBA", (10, 10), (0, 0, 0, 0)).save(held, "PNG")
    assert render(held.getvalue(), "image/png", 8, "x").getpixel((3, 3)) == (255, 255, 255)
    pytest.importorskip("resvg_py")
    assert render(SVG, "image/svg+xml", 40, "x").getpixel((5, 5)) == (204, 0, 0)


@settings(max_examples=25)
@given(side=st.integers(min_value=40, max_value=300), quality=st.integers(min_value=60, max_value=95))
def test_a_resized_and_re_encoded_picture_is_still_the_same(side: int, quality: int) -> None:
    states = ["Q142", "Q183", "Q38", "Q29", "Q45", "Q36", "Q41", "Q20"]
    pictures = [paint(one, "flag") for one in states]
    held = io.BytesIO()
    pictures[3].resize((side, side * 3 // 4)).save(held, "JPEG", quality=quality)
    query = describe(Image.open(held))
    distances = measure_distances(query, stack([describe(one) for one in pictures]))
    assert int(distances.argmin()) == 3
    # Down to 42 points and quality 62 ten bits differ; other pictures differ in twenty and more.
    bits = [count_bits_apart(hash_picture(Image.open(held)), hash_picture(one)) for one in pictures]
    assert bits.index(min(bits)) == 3
    assert bits.count(min(bits)) == 1


def test_stripes_in_other_shades_and_proportions_look_alike() -> None:
    chad, romania = stripes("#002664", "#fecb00", "#c60c30"), stripes("#002b7f", "#fcd116", "#ce1126")
    monaco = Image.new("RGB", (90, 60), "white")
    monaco.paste("#ce1126", (0, 0, 90, 30))
    indonesia = monaco.resize((120, 60))
    france = stripes("#002654", "white", "#ce1126")
    vectors = stack([describe(one) for one in (chad, romania, monaco, indonesia, france)])
    assert group_alike(vectors, SAME["flag"]) == [(0, 1), (2, 3)]


def test_a_store_excludes_what_nobody_could_tell_apart(tmp_path: Path, source: WikidataSource) -> None:
    chad, romania = stripes("#002664", "#fecb00", "#c60c30"), stripes("#002b7f", "#fcd116", "#ce1126")
    # A territory that the graph does not know has its state's flag: it counts all the same.
    territory = replace(found("", stripes("#00f", "#fff", "#f00")), name=PictureName(), origin="territory")
    pictures = [
        found(CHAD, chad), found(ROMANIA, romania), found("Q183", paint("Q183", "flag")), territory,
        found(FRANCE, stripes("#00f", "#fff", "#f00")),
    ]  # fmt: skip
    store = build_store(tmp_path, [Gathered(pictures)], source, 64, lambda _: None)
    assert [one.entity for one in store.usable] == ["Q183"]
    reasons = {one.entity: one.reason for one in store.pictures}
    assert reasons[CHAD] == "looks like Romania"
    assert reasons[FRANCE] == "looks like territory"


def test_a_flag_that_says_what_it_shows_is_not_asked_about(tmp_path: Path, source: WikidataSource) -> None:
    pictures = [found(one, paint(one, "flag")) for one in ("Q786", "Q774", FRANCE)]
    store = build_store(tmp_path, [Gathered(pictures)], source, 64, lambda _: None)
    assert [one.entity for one in store.usable] == [FRANCE]
    assert {one.reason for one in store.pictures if one.entity == "Q786"} == {"readable: the ribbon names the country"}
    assert json.loads((tmp_path / "manifest.json").read_text())["reasons"] == {"readable": 2}


def test_a_store_is_read_back_and_notices_changes(tmp_path: Path, source: WikidataSource) -> None:
    pictures = [found(FRANCE, paint(FRANCE, "flag")), found("Q99999999999", paint("x", "flag"))]
    made = build_store(tmp_path / "one", [Gathered(pictures)], source, 64, lambda _: None)
    again = build_store(tmp_path / "two", [Gathered(pictures)], source, 64, lambda _: None)
    for name in ("pictures.parquet", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    store = PictureStore.open(tmp_path / "one")
    assert store.pictures == made.pictures == again.pictures
    assert [one.label for one in store.usable] == ["France"]
    media = store.usable[0].media
    (tmp_path / "one" / "png" / f"{media}.png").write_bytes(encode_png(paint("Q1", "flag")))
    with pytest.raises(StoreError, match="changed"):
        store.read_png(media)
    with pytest.raises(StoreError, match="no store"):
        PictureStore.open(tmp_path / "nowhere")


def test_a_picture_that_cannot_be_drawn_is_a_row_not_a_crash(tmp_path: Path, source: WikidataSource) -> None:
    broken = replace(found(FRANCE, paint(FRANCE, "flag")), data=b"broken")
    store = build_store(tmp_path, [Gathered([broken])], source, 64, lambda _: None)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert store.pictures == ()
    assert manifest["failed"][0]["origin"] == f"file-{FRANCE}"


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        (PictureName(names=("France",), kind="country"), FRANCE),
        (PictureName(names=("no such land", "Kingdom of Spain"), kind="country"), SPAIN),
        (PictureName(entity=FRANCE), FRANCE),
        (PictureName(entity="Q99999999999"), ""),
        (PictureName(names=("Lithuania",), kind="country"), ""),  # two of that name
        (PictureName(names=("no such land",), kind="country"), ""),
        (PictureName(names=("osu!",), kind="organization"), ""),  # an alias of a university
        (PictureName(), ""),
    ],
)
def test_a_name_is_linked_only_where_one_entity_bears_it(
    source: WikidataSource, name: PictureName, entity: str
) -> None:
    linked = link_picture(name, source)
    assert linked.entity == entity
    assert bool(linked.reason) is not bool(entity)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("x.png\tQ1\tCC0\t\tflag", "author is empty"),
        ("x.png\tParis\tCC0\tme\tflag", "no Wikidata id"),
        ("x.png\tQ1\tCC0\tme\tposter", "kind poster"),
        ("x.exe\tQ1\tCC0\tme\tflag", "ends in none"),
        ("../x.png\tQ1\tCC0\tme\tflag", "no file of the folder"),
        ("missing.png\tQ1\tCC0\tme\tflag", "no file of the folder"),
    ],
)
def test_a_table_says_which_row_is_wrong(tmp_path: Path, row: str, said: str) -> None:
    (tmp_path / "x.png").write_bytes(b"")
    (tmp_path / "x.exe").write_bytes(b"")
    (tmp_path.parent / "x.png").write_bytes(b"")
    (tmp_path / "pictures.tsv").write_text(f"file\tentity\tlicence\tauthor\tkind\n{row}\n")
    with pytest.raises(InputError, match=f"line 2.*{said}"):
        list(FolderPictures(tmp_path).read_pictures())


def test_a_folder_gives_its_rows(tmp_path: Path) -> None:
    paint_folder(tmp_path, [FRANCE, CHAD], ("flag",))
    assert [one.name.entity for one in FolderPictures(tmp_path).read_pictures()] == [FRANCE, CHAD]
    with pytest.raises(InputError, match="needs a table"):
        list(FolderPictures(tmp_path.parent).read_pictures())


def test_a_shape_does_not_depend_on_where_it_lies() -> None:
    """The same square degrees of land on the equator and across the date line are drawn alike."""
    here = [(x / 10, y / 10) for x, y in [(0, 0), (50, 0), (50, 50), (0, 50)]]
    there = [(((x + 177.5) + 180) % 360 - 180, y) for x, y in here]
    drawn = [draw_outline(project_shape([[ring]]), 64) for ring in (here, there)]
    assert drawn[0].tobytes() == drawn[1].tobytes()
    assert 0.5 < measure_ink(drawn[0]) < 1


def test_far_small_parts_are_left_out() -> None:
    island = [(60.0, 0.0), (61.0, 0.0), (61.0, 1.0)]
    near = [(11.0, 0.0), (12.0, 0.0), (12.0, 1.0)]
    assert len(project_shape([[draw_circle(10)], [island], [near]])) == 2


def test_an_island_that_is_seen_belongs_to_the_outline() -> None:
    """As Tobago does to Trinidad: a few percent of the area, and farther away than the largest part reaches."""
    tobago = draw_circle(0.25, 1.5)
    assert len(project_shape([[draw_circle(1)], [tobago]])) == 2
    # What would be missed lies too far away to be drawn: there is no outline, unless it lies overseas.
    assert project_shape([[draw_circle(1)], [draw_circle(0.25, 5)]]) == []
    assert len(project_shape([[draw_circle(1)], [draw_circle(0.25, 50)]])) == 1


def test_a_hole_is_drawn_and_what_lies_in_it() -> None:
    """As Lesotho is one in South Africa."""
    island, land = [draw_circle(1)], [draw_circle(10), draw_circle(4)]
    whole = draw_outline([[draw_circle(10)]], 64)
    holed, filled = draw_outline(project_shape([land]), 64), draw_outline(project_shape([island, land]), 64)
    assert whole.getpixel((32, 32)) == filled.getpixel((32, 32)) != holed.getpixel((32, 32)) == (255, 255, 255)
    assert holed.getpixel((32, 10)) == whole.getpixel((32, 10))
    assert measure_ink(holed) < measure_ink(filled) < measure_ink(whole)
    assert encode_png(holed) == encode_png(draw_outline(project_shape([land]), 64))


def draw_circle(radius: float, east: float = 0) -> list[tuple[float, float]]:
    """A ring of that radius in degrees, on the equator."""
    steps = [number / 5 for number in range(31)]
    return [(east + radius * math.cos(step), radius * math.sin(step)) for step in steps]


def test_topojson_is_decoded(tmp_path: Path) -> None:
    atlas = {
        "transform": {"scale": [1, 1], "translate": [10, 20]},
        "arcs": [[[0, 0], [2, 0]], [[0, 2], [2, 0], [0, -2]], [[1, 1], [0, 1], [1, 0]]],
        "objects": {"countries": {"geometries": [{"id": "250", "type": "Polygon", "arcs": [[0, -2], [2]]}]}},
    }
    ((code, parts),) = read_shapes(json.dumps(atlas).encode())
    assert code == "250"
    assert parts == [([(10, 20), (12, 20), (12, 22), (10, 22)], [(11, 21), (11, 22), (12, 22)])]
    with pytest.raises(InputError, match="layout"):
        list(read_shapes(b"{}"))


def test_an_archive_is_the_one_that_is_meant(tmp_path: Path) -> None:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        info = tarfile.TarInfo("package/a.txt")
        info.size = 2
        archive.addfile(info, io.BytesIO(b"hi"))
    package = NpmPackage("p", "1", "wrong", "MIT", "me")
    with pytest.raises(InputError, match="SHA-512"):
        check_archive(held.getvalue(), package, "it")
    (tmp_path / "p-1.tgz").write_bytes(held.getvalue())
    assert read_archive(tmp_path / "p-1.tgz") == {"a.txt": b"hi"}
    (tmp_path / "bad.tgz").write_bytes(held.getvalue()[:40])
    with pytest.raises(InputError, match="damaged"):
        read_archive(tmp_path / "bad.tgz")


def test_square_flags_are_drawn_square(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"ch": "Switzerland", "va": "Vatican City", "fr": "France"}
    listed = [
        {"code": code, "name": name, "iso": True, "flag_4x3": f"4x3/{code}.svg", "flag_1x1": f"1x1/{code}.svg"}
        for code, name in names.items()
    ]
    countries = [
        {"cca2": code.upper(), "ccn3": "1", "name": {"common": name, "official": name}, "altSpellings": [],
         "independent": True}
        for code, name in names.items()
    ]  # fmt: skip
    svg = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {} 48'><rect width='{}' height='48'/></svg>"
    archives = {
        FLAGS.name: {"country.json": json.dumps(listed).encode()}
        | {f"{shape}/{code}.svg": svg.format(width, width).encode() for code in names
           for shape, width in (("4x3", 64), ("1x1", 48))},
        COUNTRIES.name: {"countries.json": json.dumps(countries).encode()},
    }  # fmt: skip
    monkeypatch.setattr("hopwright.knowledge.images.flags.fetch_package", lambda package, cache: Path(package.name))
    monkeypatch.setattr("hopwright.knowledge.images.flags.read_archive", lambda path: archives[path.name])
    pictures = {one.name.names[0]: one for one in FlagPictures(tmp_path).read_pictures()}
    pytest.importorskip("resvg_py")
    sizes = {name: render(one.data, one.media_type, 64, name).size for name, one in pictures.items()}
    assert sizes == {"Switzerland": (64, 64), "Vatican City": (64, 64), "France": (64, 48)}


def test_names_are_found_in_what_is_read() -> None:
    assert find_name(("REPUBLIC OF", "EL  SALVADOR"), ("El Salvador",)) == "El Salvador"
    assert find_name(("SUB UMBRA FLOREO",), ("Belize",)) == ""


@pytest.mark.e2e
def test_the_registry_s_flags_and_outlines(tmp_path_factory: pytest.TempPathFactory, source: WikidataSource) -> None:
    """The real packages, where npm reaches them: enough pictures, and the famous doubles are left out."""
    pytest.importorskip("resvg_py")
    cache = tmp_path_factory.mktemp("npm")
    try:
        flags = list(FlagPictures(cache).read_pictures())
        outlines = list(OutlinePictures(cache).read_pictures())
    except ServiceError as error:
        pytest.skip(str(error))
    assert (cache / FLAGS.file_name).is_file()
    few = [
        one
        for one in flags
        if one.origin.endswith(("td.svg", "ro.svg", "id.svg", "mc.svg", "jp.svg", "fr.svg", "re.svg"))
    ]
    store = build_store(
        cache / "store", [Gathered(few), Gathered(outlines[:30], "shapes")], source, 128, lambda _: None
    )
    used = {one.label for one in store.usable if one.kind == "flag"}
    assert used == {"Japan"}
    assert len(flags) > 200
    assert len(outlines) > 120
