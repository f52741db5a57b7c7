"""Wikimedia Commons: the pictures that statements of Wikidata name, with licence and author of each file.

A SPARQL endpoint says which file shows which entity (`image`, `flag image`, `logo image`, `coat of arms image`); the
interface of MediaWiki says where the file is, who made it and under which licence; the file is downloaded at a bounded
size. Every answer is kept in the cache, so that a second reading needs no network.
"""

from __future__ import annotations

import hashlib
import html
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.errors import ServiceError
from hopwright.foreign import BodyError, BodyReader, JsonError, load_json, show, show_misfit
from hopwright.knowledge.images.pictures import FoundPicture, PictureKind, PictureName
from hopwright.knowledge.images.rendering import MOST_BYTES
from hopwright.knowledge.wikidata.roles import COAT_OF_ARMS, FLAG, LOGO, PICTURE
from hopwright.knowledge.wikidata.sparql.client import SparqlClient
from hopwright.runs.files import write_file

COMMONS = "https://commons.wikimedia.org/w/api.php"
STATEMENTS: Mapping[str, PictureKind] = {PICTURE: "photo", FLAG: "flag", LOGO: "mark", COAT_OF_ARMS: "arms"}
"""Which property of Wikidata names pictures of which kind."""
_ENTITY = re.compile(r"/entity/(Q[1-9]\d{0,11})$")
_FILE = re.compile(r"/Special:FilePath/(.+)$")
_TAG = re.compile(r"<[^>]*>")
_BATCH = 50
_CHUNK = 1 << 16
_LONGEST_ANSWER = 8 << 20
_TIMEOUT_S = 60
_MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml"})
_FREE = re.compile(r"(?i)^(cc0|public domain|pd|cc[ -]by(-sa)?[ -]|mit|ogl|ogl[ -]|attribution|copyrighted free use)")


@dataclass(frozen=True, slots=True)
class CommonsFile:
    """What Commons says of one file: where it is, what it is, by whom, and under which licence."""

    title: str
    url: str
    media_type: str
    licence: str
    author: str


class CommonsPictures:
    """The pictures of some entities. Files without a free licence are left out."""

    name = "Wikimedia Commons"

    def __init__(
        self,
        entities: Sequence[str],
        kinds: Sequence[PictureKind],
        client: SparqlClient,
        cache: Path,
        *,
        api: str = COMMONS,
        width: int = 1024,
    ) -> None:
        self._entities = entities
        self._properties = [name for name, kind in STATEMENTS.items() if kind in kinds]
        self._client = client
        self._cache = cache
        self._api = api
        self._width = width

    def read_pictures(self) -> Iterator[FoundPicture]:
        """See PictureSource. Raises ServiceError where the endpoint or Commons fails."""
        named = self._find_names()
        described = {one.title: one for one in self._describe_files(sorted({title for _, _, title in named}))}
        for entity, kind, title in named:
            file = described.get(title)
            if file is None or file.media_type not in _MEDIA_TYPES or not _FREE.match(file.licence):
                continue
            yield FoundPicture(
                kind=kind,
                name=PictureName(entity=entity),
                data=self._fetch_file(file.url),
                media_type="image/png" if file.media_type == "image/svg+xml" else file.media_type,
                licence=file.licence,
                author=file.author,
                origin=f"Wikimedia Commons File:{title}",
            )

    def _find_names(self) -> list[tuple[str, PictureKind, str]]:
        """(entity, kind, file) of every statement; an entity with several files of a kind keeps the first by name."""
        found: dict[tuple[str, PictureKind], str] = {}
        for batch in _cut(self._entities, _BATCH):
            for property in self._properties:
                for row in self._client.select(_write_query(batch, property)):
                    entity, file = _ENTITY.search(row["entity"].value), _FILE.search(row["file"].value)
                    if entity is None or file is None:
                        continue
                    title = urllib.parse.unquote(file[1]).replace("_", " ")
                    key = (entity[1], STATEMENTS[property])
                    found[key] = min(found.get(key, title), title)
        return sorted((entity, kind, title) for (entity, kind), title in found.items())

    def _describe_files(self, titles: Sequence[str]) -> Iterator[CommonsFile]:
        for batch in _cut(titles, _BATCH):
            query = {
                "action": "query", "format": "json", "prop": "imageinfo", "iiprop": "url|mime|extmetadata",
                "iiurlwidth": str(self._width), "titles": "|".join(f"File:{title}" for title in batch),
            }  # fmt: skip
            try:
                body = self._fetch(f"{self._api}?{urllib.parse.urlencode(query)}", _LONGEST_ANSWER)
                pages = load_json(body)["query"]["pages"].values()
                yield from (_read_file(page) for page in pages if page.get("imageinfo"))
            except (BodyError, JsonError, KeyError, TypeError, AttributeError, IndexError) as error:
                raise ServiceError(f"{self._api}: does not answer as MediaWiki does ({show_misfit(error)})") from None

    def _fetch_file(self, url: str) -> bytes:
        """A file, empty where it is larger than a picture may be: such a one cannot be drawn, and the others can."""
        try:
            return self._fetch(url, MOST_BYTES)
        except BodyError:
            return b""

    def _fetch(self, url: str, most: int) -> bytes:
        """The body at an address, from the cache where it was fetched before. Raises BodyError for one too large."""
        path = self._cache / hashlib.sha256(url.encode()).hexdigest()
        if path.is_file():
            return path.read_bytes()
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ServiceError(f"Wikimedia Commons names a file at {show(url)}, which is no http address")
        request = urllib.request.Request(url, headers={"User-Agent": self._client.settings.agent})
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:
                reader = BodyReader(most, response.headers.get("Content-Encoding"))
                body = b"".join(reader.feed(part) for part in iter(lambda: response.read(_CHUNK), b""))
        except (urllib.error.URLError, OSError) as error:
            raise ServiceError(
                f"{show(url)} cannot be fetched ({show(error)}): run again, what is here is kept"
            ) from None
        write_file(path, body)
        return body


def _write_query(entities: Iterable[str], property: str) -> str:
    values = " ".join(f"wd:{one}" for one in entities)
    return (
        "PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wdt: <http://www.wikidata.org/prop/direct/> "
        f"SELECT ?entity ?file WHERE {{ VALUES ?entity {{ {values} }} ?entity wdt:{property} ?file }} "
        "ORDER BY ?entity ?file"
    )


def _read_file(page: Mapping[str, Any]) -> CommonsFile:
    info = page["imageinfo"][0]
    said = info.get("extmetadata", {})
    return CommonsFile(
        title=page["title"].removeprefix("File:"),
        url=info.get("thumburl") or info["url"],
        media_type=info["mime"],
        licence=_read_text(said.get("LicenseShortName", {}).get("value", "")),
        author=_read_text(said.get("Artist", {}).get("value", "")) or "unknown",
    )


def _read_text(value: object) -> str:
    """What a field of HTML says, in one line."""
    return " ".join(html.unescape(_TAG.sub(" ", str(value))).split())[:200]


def _cut(rows: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
