"""A real SPARQL server (Oxigraph) for tests, a proxy before it that goes wrong on demand, and graphs to serve."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from hopwright.knowledge.wikidata.store import GraphStore

WD = "http://www.wikidata.org/entity/"
WDT = "http://www.wikidata.org/prop/direct/"
XSD = "http://www.w3.org/2001/XMLSchema#"
WIKIBASE = "http://wikiba.se/ontology#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
DESCRIPTION = "http://schema.org/description"
SAME = "http://www.w3.org/2002/07/owl#sameAs"
WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"


def find_oxigraph() -> str | None:
    """The server's program: beside this Python, or on the path."""
    beside = Path(sys.executable).with_name("oxigraph")
    return str(beside) if beside.exists() else shutil.which("oxigraph")


class Oxigraph:
    """A server of one N-Triples file, with its data on disk; a context that ends the process that it started."""

    def __init__(self, folder: Path, triples: Path) -> None:
        program = find_oxigraph()
        assert program is not None
        self._program = program
        self._data = folder / "data"
        self._log = folder / "server.log"
        load = [program, "load", "--location", str(self._data), "--file", str(triples)]
        subprocess.run(load, check=True, capture_output=True, timeout=300)

    def __enter__(self) -> Oxigraph:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/query"
        serve = [self._program, "serve-read-only", "--location", str(self._data), "--bind", f"127.0.0.1:{port}"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(serve, stdout=log, stderr=log)
        end = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return self
            except OSError:
                assert self._process.poll() is None and time.monotonic() < end, self._log.read_text()
                time.sleep(0.02)

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)


@dataclass
class Seen:
    """One request that reached the proxy. `status` is what was answered; 0 for a cut or held connection."""

    at: float
    method: str
    query: str
    agent: str
    fault: str = ""
    status: int = 0


@dataclass
class FaultProxy:
    """Hands requests to a server, and goes wrong at the requests named in `faults` (from 1).

    Faults: `429 <seconds>` or `503 <seconds>` (with Retry-After), `500`, `hang` (until let go), `cut` (half of the
    body, then the connection ends), `drop` (no answer at all), `html`, `half` (broken JSON that claims to be whole).
    """

    upstream: str
    faults: dict[int, str] = field(default_factory=dict)
    always: str = ""
    seen: list[Seen] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> FaultProxy:
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/sparql"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()

    def note(self, seen: Seen) -> None:
        """Number a request and choose its fault."""
        with self._lock:
            self.seen.append(seen)
            seen.fault = self.always or self.faults.get(len(self.seen), "")

    def answered(self) -> list[str]:
        """The queries that were answered well, in order."""
        return [one.query for one in self.seen if one.status == 200 and not one.fault]

    def wait_for(self, requests: int, until: Callable[[], bool] = lambda: True) -> None:
        """Wait until so many requests have come in."""
        end = time.monotonic() + 120
        while len(self.seen) < requests or not until():
            assert time.monotonic() < end, f"{len(self.seen)} requests, not {requests}"
            time.sleep(0.005)


class _Handler(BaseHTTPRequestHandler):
    proxy: FaultProxy

    def do_GET(self) -> None:
        self._handle(urllib.parse.urlsplit(self.path).query)

    def do_POST(self) -> None:
        self._handle(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def log_message(self, *_: object) -> None:
        pass

    def _handle(self, form: str) -> None:
        query = urllib.parse.parse_qs(form)["query"][0]
        seen = Seen(time.monotonic(), self.command, query, self.headers["User-Agent"])
        self.proxy.note(seen)
        name, _, number = seen.fault.partition(" ")
        if name == "hang":
            self.proxy.let_go.wait(30)
            return
        if name == "drop":
            return
        if name in ("429", "500", "503"):
            self._send(seen, int(name), "text/plain", b"not now", {"Retry-After": number} if number else {})
        elif name == "html":
            self._send(seen, 200, "text/html", b"<!DOCTYPE html><title>Please come back later</title>")
        else:
            self._forward(seen, name)

    def _forward(self, seen: Seen, fault: str) -> None:
        data = urllib.parse.urlencode({"query": seen.query}).encode()
        request = urllib.request.Request(self.proxy.upstream, data, {"Accept": self.headers["Accept"]})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                body, kind = response.read(), response.headers["Content-Type"]
        except urllib.error.HTTPError as error:
            self._send(seen, error.code, "text/plain", error.read())
            return
        if fault == "half":
            self._send(seen, 200, kind, body[: len(body) // 2] + b"\njava.util.concurrent.TimeoutException")
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
        else:
            self._send(seen, 200, kind, body)

    def _send(self, seen: Seen, status: int, kind: str, body: bytes, more: dict[str, str] | None = None) -> None:
        seen.status = status
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def write_plain(store: GraphStore, file: Path, extra: Sequence[str] = ()) -> int:
    """Serve a store as plain triples: `wdt:` facts and typed literals, labels and aliases. Returns how many."""
    lines = [*extra]
    for id in store.entities():
        lines.extend(f"<{WD}{id}> <{WDT}{property}> <{WD}{other}> ." for property, other in store.out_edges(id))
        if label := store.label(id):
            lines.append(f"<{WD}{id}> <{LABEL}> {_text(label)}@en .")
        lines.extend(f"<{WD}{id}> <{ALIAS}> {_text(alias)}@en ." for alias in store.aliases(id))
        lines.extend(_literal_lines(store, id))
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return len(lines)


class Statements:
    """Builds a graph in Wikidata's statement model, one call a statement."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def time(self, subject: str, property: str, value: str, precision: int, *, rank: str = "Normal",
             calendar: str = "Q1985727") -> None:  # fmt: skip
        """A date."""
        node = self._statement(subject, property, rank)
        self._add(node, f"{WIKIBASE}timeValue", f'"{value}"^^<{XSD}dateTime>')
        self._add(node, f"{WIKIBASE}timePrecision", f'"{precision}"^^<{XSD}integer>')
        self._add(node, f"{WIKIBASE}timeCalendarModel", f"<{WD}{calendar}>")
        if rank != "Deprecated":
            self._add(f"{WD}{subject}", f"{WDT}{property}", f'"{value}"^^<{XSD}dateTime>')

    def quantity(self, subject: str, property: str, amount: str, unit: str, *, rank: str = "Normal") -> None:
        """A number with its unit."""
        node = self._statement(subject, property, rank)
        self._add(node, f"{WIKIBASE}quantityAmount", f'"{amount}"^^<{XSD}decimal>')
        self._add(node, f"{WIKIBASE}quantityUnit", f"<{WD}{unit}>")

    def point(self, subject: str, property: str, latitude: str, longitude: str, globe: str = "Q2") -> None:
        """A place on a globe."""
        node = self._statement(subject, property, "Normal")
        self._add(node, f"{WIKIBASE}geoLatitude", f'"{latitude}"^^<{XSD}double>')
        self._add(node, f"{WIKIBASE}geoLongitude", f'"{longitude}"^^<{XSD}double>')
        self._add(node, f"{WIKIBASE}geoGlobe", f"<{WD}{globe}>")

    def nothing(self, subject: str, property: str, *, rank: str = "Normal") -> None:
        """An "unknown value": a statement without a value node."""
        self._statement(subject, property, rank, valued=False)

    def entity(self, subject: str, property: str, object: str, *, rank: str = "Normal") -> None:
        """A fact between entities."""
        statement = self._name(subject, property, rank)
        self._add(statement, f"http://www.wikidata.org/prop/statement/{property}", f"<{WD}{object}>")
        if rank != "Deprecated":
            self._add(f"{WD}{subject}", f"{WDT}{property}", f"<{WD}{object}>")

    def same(self, old: str, new: str) -> None:
        """A redirect."""
        self._add(f"{WD}{old}", SAME, f"<{WD}{new}>")

    def _statement(self, subject: str, property: str, rank: str, *, valued: bool = True) -> str:
        statement = self._name(subject, property, rank)
        node = f"http://www.wikidata.org/value/v{self._count}"
        if valued:
            self._add(statement, f"http://www.wikidata.org/prop/statement/value/{property}", f"<{node}>")
        return node

    def _name(self, subject: str, property: str, rank: str) -> str:
        self._count += 1
        statement = f"{WD}statement/{subject}-{self._count}"
        self._add(f"{WD}{subject}", f"http://www.wikidata.org/prop/{property}", f"<{statement}>")
        self._add(statement, f"{WIKIBASE}rank", f"<{WIKIBASE}{rank}Rank>")
        return statement

    def _add(self, subject: str, predicate: str, object: str) -> None:
        self.lines.append(f"<{subject}> <{predicate}> {object} .")


def name_line(id: str, name: str, *, alias: bool = False, language: str = "en") -> str:
    """A label or an alias as N-Triples."""
    tag = f"@{language}" if language else ""
    return f"<{WD}{id}> <{ALIAS if alias else LABEL}> {_text(name)}{tag} ."


def describe_line(id: str, text: str) -> str:
    """A description as N-Triples."""
    return f"<{WD}{id}> <{DESCRIPTION}> {_text(text)}@en ."


def _literal_lines(store: GraphStore, id: str) -> Iterator[str]:
    points: dict[str, dict[str, list[str]]] = {}
    for fact in store.literals(id):
        if fact.datatype == "double":
            points.setdefault(fact.property, {}).setdefault(fact.unit, []).append(fact.value)
        else:
            yield f'<{WD}{id}> <{WDT}{fact.property}> "{fact.value}"^^<{XSD}{fact.datatype}> .'
    for property, parts in points.items():
        for longitude, latitude in zip(parts["Longtiude"], parts["Latitude"], strict=False):
            yield f'<{WD}{id}> <{WDT}{property}> "Point({longitude} {latitude})"^^<{WKT}> .'


def _text(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(sign, sign) for sign in text) + '"'
