"""Wikimedia Commons: the pictures that statements of Wikidata name, with licence and author of each file.

A SPARQL endpoint says which file shows which entity (`image`, `flag image`, `logo image`, `coat of arms image`); the
interface of MediaWiki says where the file is, who made it and under which licence; the file is downloaded at a bounded
size. Every answer is kept in the cache, so that a second reading needs no network. A file that cannot be had, or that
is described oddly, is a picture with the reason: the others come.
"""

from __future__ import annotations

import hashlib
import html
import http
import http.client
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from hopwright.errors import ServiceError
from hopwright.foreign import (
    BodyError,
    JsonError,
    TooLargeError,
    drop_controls,
    escape_controls,
    load_json,
    read_answer,
    show,
    show_misfit,
)
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
_LONGEST_ANSWER = 8 << 20
_TIMEOUT_S = 60
_PATIENCE_S = 300
"""For one whole answer."""
_MOST_TROUBLES = 5
"""So many files in a row that the network or the server fails, and the rest would fail as well."""
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
        self._troubles = 0

    def read_pictures(self) -> Iterator[FoundPicture]:
        """See PictureSource. Raises ServiceError where the endpoint or Commons fails."""
        named = list(self._find_names())
        titles = {title for _, _, title in named}
        described = self._describe_files(sorted(titles - {""}))
        for entity, kind, title in named:
            file = described.get(title, "Commons does not describe it")
            if not title:
                file = "a row of the endpoint names no entity or no file"
            if isinstance(file, CommonsFile) and (file.media_type not in _MEDIA_TYPES or not _FREE.match(file.licence)):
                continue
            picture = FoundPicture(
                kind=kind,
                name=PictureName(entity=entity),
                data=b"",
                media_type="",
                licence="",
                author="",
                origin=f"Wikimedia Commons File:{escape_controls(title)}" if title else "Wikimedia Commons",
            )
            yield replace(picture, failure=file) if isinstance(file, str) else self._fetch_picture(picture, file)

    def _find_names(self) -> Iterator[tuple[str, PictureKind, str]]:
        """(entity, kind, file) of every statement; an entity with several files of a kind keeps the first by name.

        A row without entity or file comes first, with both empty.
        """
        found: dict[tuple[str, PictureKind], str] = {}
        for batch in _cut(self._entities, _BATCH):
            for property in self._properties:
                for row in self._client.select(_write_query(batch, property)):
                    if "entity" not in row or "file" not in row:
                        yield "", STATEMENTS[property], ""
                        continue
                    entity, file = _ENTITY.search(row["entity"].value), _FILE.search(row["file"].value)
                    if entity is None or file is None:
                        continue
                    title = urllib.parse.unquote(file[1]).replace("_", " ")
                    key = (entity[1], STATEMENTS[property])
                    found[key] = min(found.get(key, title), title)
        yield from sorted((entity, kind, title) for (entity, kind), title in found.items())

    def _describe_files(self, titles: Sequence[str]) -> dict[str, CommonsFile | str]:
        """What Commons says of each file, or why that cannot be used."""
        found: dict[str, CommonsFile | str] = {}
        for batch in _cut(titles, _BATCH):
            query = {
                "action": "query", "format": "json", "prop": "imageinfo", "iiprop": "url|mime|extmetadata",
                "iiurlwidth": str(self._width), "titles": "|".join(f"File:{title}" for title in batch),
            }  # fmt: skip
            for page in self._list_pages(f"{self._api}?{urllib.parse.urlencode(query)}"):
                title = page.get("title") if isinstance(page, dict) else None
                if isinstance(title, str):
                    found[title.removeprefix("File:")] = _read_file(page)
        return found

    def _list_pages(self, url: str) -> Sequence[Any]:
        """The pages of an answer of MediaWiki, which is kept once it is one."""
        path = self._place(url)
        try:
            body = path.read_bytes() if path.is_file() else self._download(url, _LONGEST_ANSWER)
            pages = list(load_json(body)["query"]["pages"].values())
        except _FileError as error:
            raise ServiceError(f"{show(url)} {error}: run again, what is here is kept") from None
        except (JsonError, KeyError, TypeError, AttributeError) as error:
            path.unlink(missing_ok=True)
            raise ServiceError(f"{self._api}: does not answer as MediaWiki does ({show_misfit(error)})") from None
        if not path.is_file():
            write_file(path, body)
        return pages

    def _fetch_picture(self, picture: FoundPicture, file: CommonsFile) -> FoundPicture:
        """The picture with its file, or with the reason why that does not come."""
        path = self._place(file.url)
        try:
            if not path.is_file():
                write_file(path, self._download(file.url, MOST_BYTES))
        except _FileError as error:
            self._troubles = self._troubles + 1 if error.trouble else 0
            if self._troubles >= _MOST_TROUBLES:
                raise ServiceError(
                    f"{show(file.url)} {error}, nor could {_MOST_TROUBLES - 1} files before it be fetched: run again, "
                    "what is here is kept"
                ) from None
            return replace(picture, failure=f"{show(file.url)} {error}")
        self._troubles = 0
        return replace(
            picture,
            data=path.read_bytes(),
            media_type="image/png" if file.media_type == "image/svg+xml" else file.media_type,
            licence=file.licence,
            author=file.author,
        )

    def _place(self, url: str) -> Path:
        return self._cache / hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()

    def _download(self, url: str, most: int) -> bytes:
        """The whole body at an address. Raises _FileError; ServiceError where the server wants to be left alone."""
        try:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
                raise _FileError("is no http address")
            request = urllib.request.Request(url, headers={"User-Agent": self._client.settings.agent})
            with _OPENER.open(request, timeout=_TIMEOUT_S) as response:
                return read_answer(response, most, time.monotonic() + _PATIENCE_S)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == http.HTTPStatus.TOO_MANY_REQUESTS:
                raise ServiceError(
                    f"{show(parts.hostname)} is asked too often (HTTP 429): run again later, what is here is kept"
                ) from None
            raise _FileError(f"cannot be fetched (HTTP {error.code})", trouble=error.code >= 500) from None
        except OSError as error:
            raise _FileError(f"cannot be fetched ({show(error) or type(error).__name__})", trouble=True) from None
        except TooLargeError:
            raise _FileError(f"cannot be fetched (more than {most:,} bytes)") from None
        except BodyError as error:
            raise _FileError(f"cannot be fetched ({error})") from None
        except http.client.IncompleteRead:
            raise _FileError("cannot be fetched (it breaks off)") from None
        except (http.client.HTTPException, ValueError) as error:
            raise _FileError(f"cannot be fetched ({show(str(error) or type(error).__name__)})") from None


class _FileError(Exception):
    """Why a file does not come; `trouble` where that is not the file's own fault."""

    def __init__(self, text: str, *, trouble: bool = False) -> None:
        super().__init__(text)
        self.trouble = trouble


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirects on the same host: another one is nobody whom Commons named."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if new.hostname != old.hostname or new.scheme not in (old.scheme, "https"):
            fp.close()
            raise _FileError(f"cannot be fetched (it redirects elsewhere, to {show(new.hostname or newurl)})")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_SameHost)


def _write_query(entities: Iterable[str], property: str) -> str:
    values = " ".join(f"wd:{one}" for one in entities)
    return (
        "PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wdt: <http://www.wikidata.org/prop/direct/> "
        f"SELECT ?entity ?file WHERE {{ VALUES ?entity {{ {values} }} ?entity wdt:{property} ?file }} "
        "ORDER BY ?entity ?file"
    )


def _read_file(page: Mapping[str, Any]) -> CommonsFile | str:
    """What a page says of its file, or why that cannot be used."""
    if not page.get("imageinfo"):
        return "Commons does not say where it is"
    try:
        info = page["imageinfo"][0]
        # Where it is empty, MediaWiki writes the mapping as a list.
        said = info.get("extmetadata") or {}
        file = CommonsFile(
            title=page["title"].removeprefix("File:"),
            url=info.get("thumburl") or info["url"],
            media_type=info["mime"],
            licence=_read_text(said.get("LicenseShortName", {}).get("value", "")),
            author=_read_text(said.get("Artist", {}).get("value", "")) or "unknown",
        )
        if not isinstance(file.url, str) or not isinstance(file.media_type, str):
            raise TypeError
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        return f"Commons describes it oddly ({show_misfit(error)})"
    return file


def _read_text(value: object) -> str:
    """What a field of HTML says, in one line."""
    return drop_controls(" ".join(html.unescape(_TAG.sub(" ", str(value))).split()))[:200]


def _cut(rows: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
