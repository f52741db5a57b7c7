"""Who embeds passages and queries: the small model that can be installed, or an endpoint in OpenAI's format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

import httpx
import numpy as np
from numpy.typing import NDArray

from hopwright.errors import InputError, ServiceError
from hopwright.foreign import BodyError, load_json, show
from hopwright.knowledge.documents.index.asking import Asker
from hopwright.llm.redaction import Redactor
from hopwright.text import embeddings

Vectors = NDArray[np.float32]
_KEY = "HOPWRIGHT_EMBEDDINGS_KEY"
_TIMEOUT_S = 240.0
"""For one whole answer."""
_TRIES = 3


class Embedder(Protocol):
    """Embeds texts."""

    name: str
    """What is written in the index: vectors of another name are not comparable."""
    batch: int
    """How many texts it takes at once."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The texts' embeddings, each of length 1: texts × dimensions. Raises ServiceError."""
        ...


class LocalEmbedder:
    """all-MiniLM-L6-v2 on the CPU, in one thread."""

    batch = 64

    def __init__(self) -> None:
        """Raises InputError where the extra is not installed."""
        if obstacle := embeddings.find_obstacle():
            raise InputError(f"dense retrieval is local, but {obstacle}, or name an endpoint")
        self.name = embeddings.name_model("on")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        return embeddings.embed(texts, batch=self.batch)


class EndpointEmbedder:
    """An endpoint's model; its key is taken from HOPWRIGHT_EMBEDDINGS_KEY, if that is set."""

    batch = 64

    def __init__(self, url: str, model: str) -> None:
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self.name = f"{url.rstrip('/')}#{model}"
        key = os.environ.get(_KEY, "").strip()
        if not key.isascii() or not key.isprintable():
            raise InputError(f"{_KEY} holds characters that no key has: set it anew")
        self._clean = Redactor([key]).clean
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._asker = Asker(_TIMEOUT_S, headers, httpx.AsyncHTTPTransport(retries=_TRIES))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        try:
            body = self._asker.ask("POST", self._url, {"model": self._model, "input": list(texts)})
            rows = sorted(load_json(body)["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise ServiceError(f"{self._url} answers {status}; run the same command again") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = show(self._clean(str(error))) or type(error).__name__
            raise ServiceError(f"{self._url} cannot be reached ({reason}); run the same command again") from None
        except BodyError as error:
            raise ServiceError(f"{self._url}: {self._clean(str(error))}") from None
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            reason = show(self._clean(repr(error)))
            raise ServiceError(f"{self._url}: its answer holds no embeddings ({reason})") from None
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ServiceError(f"{self._url}: {len(texts)} texts were sent, embeddings of shape {vectors.shape} came")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not norms.all():
            raise ServiceError(f"{self._url}: an embedding is zero or not finite")
        unit: Vectors = vectors / norms
        return unit


def open_embedder(spec: str) -> Embedder | None:
    """The embedder of `CorpusIndexParameters.dense`; None for `off`."""
    if spec == "off":
        return None
    if spec == "local":
        return LocalEmbedder()
    url, _, model = spec.partition("#")
    return EndpointEmbedder(url, model)
