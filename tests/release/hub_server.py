"""A dataset repository that speaks the Hub's interface as far as publishing goes: what was committed is kept in memory.

Files go the way that the Hub sends them: small texts inside the commit, Parquet and pictures by LFS. It refuses a wrong
token, an LFS object whose bytes are not what its hash says, and a commit that names an object that was not uploaded.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_test"
LFS = (".parquet", ".png")


@dataclass
class Repository:
    """What the server holds."""

    visibility: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    fail_commit: int = 0
    """So many commits are refused."""
    fail_tag: int = 0


@contextmanager
def serve_hub(repo: str) -> Iterator[tuple[str, Repository]]:
    """The server's address, and what it holds of one repository."""
    held = Repository()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.repo, server.held = repo, held  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", held
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PUT(self) -> None:
        self._answer("PUT")

    def log_message(self, *_: Any) -> None:
        return

    @property
    def held(self) -> Repository:
        return self.server.held  # type: ignore[attr-defined, no-any-return]

    def _answer(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, repo = self.path.split("?")[0], self.server.repo  # type: ignore[attr-defined]
        self.held.calls.append(f"{method} {path}")
        if path.startswith("/objects/"):
            self._keep(path.removeprefix("/objects/"), body)
        elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._send(401, {"error": "Invalid username or password."})
        elif path == "/api/repos/create":
            self._create(json.loads(body), repo)
        elif path == "/api/validate-yaml":
            self._send(200, {"errors": [], "warnings": []})
        elif path == f"/api/datasets/{repo}/refs":
            tags = [
                {"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": sha} for tag, sha in self.held.tags.items()
            ]
            self._send(200, {"branches": [], "converts": [], "tags": tags})
        elif path.startswith(f"/api/datasets/{repo}/tree/main"):
            self._send(200, [_describe(name, data) for name, data in self.held.files.items()])
        elif path in (f"/api/datasets/{repo}", f"/api/datasets/{repo}/revision/main"):
            names = [{"rfilename": name} for name in self.held.files]
            self._send(200, {"id": repo, "sha": self._head(), "siblings": names, "private": False, "tags": []})
        elif path == f"/api/datasets/{repo}/preupload/main":
            self._sort(json.loads(body))
        elif path == f"/datasets/{repo}.git/info/lfs/objects/batch":
            self._offer(json.loads(body))
        elif path == f"/api/datasets/{repo}/commit/main":
            self._commit([json.loads(line) for line in body.splitlines()], repo)
        elif path == f"/api/datasets/{repo}/tag/main":
            self._tag(json.loads(body)["tag"])
        else:
            self._send(404, {"error": f"{method} {path} is not known here"})

    def _create(self, wanted: dict[str, Any], repo: str) -> None:
        assert f"{wanted['organization']}/{wanted['name']}" == repo
        assert wanted["type"] == "dataset"
        if self.held.visibility is not None:
            self._send(
                409, {"error": "You already created this dataset repo", "url": f"{self._base()}/datasets/{repo}"}
            )
            return
        self.held.visibility = wanted.get("visibility") or "public"
        self._send(200, {"url": f"{self._base()}/datasets/{repo}", "name": repo})

    def _sort(self, asked: dict[str, Any]) -> None:
        files = []
        for one in asked["files"]:
            mode = "lfs" if one["path"].endswith(LFS) else "regular"
            data = self.held.files.get(one["path"])
            oid = None if data is None else _hash_blob(data) if mode == "regular" else hashlib.sha256(data).hexdigest()
            files.append({"path": one["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self._send(200, {"files": files})

    def _offer(self, asked: dict[str, Any]) -> None:
        objects: list[dict[str, Any]] = []
        for one in asked["objects"]:
            known = one["oid"] in self.held.objects
            upload = {"upload": {"href": f"{self._base()}/objects/{one['oid']}"}}
            objects.append({**one, **({} if known else {"actions": upload})})
        self._send(200, {"transfer": "basic", "objects": objects})

    def _keep(self, oid: str, data: bytes) -> None:
        right = hashlib.sha256(data).hexdigest() == oid
        if right:
            self.held.objects[oid] = data
        self._send(200 if right else 422, {})

    def _commit(self, lines: list[dict[str, Any]], repo: str) -> None:
        if self.held.fail_commit:
            self.held.fail_commit -= 1
            self._send(500, {"error": "not now"})
            return
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                self.held.files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                self.held.files[value["path"]] = self.held.objects[value["oid"]]
            elif line["key"] == "deletedFile":
                del self.held.files[value["path"]]
        self.held.commits.append(lines[0]["value"]["summary"])
        address = f"{self._base()}/datasets/{repo}/commit/{self._head()}"
        self._send(200, {"success": True, "commitOid": self._head(), "commitUrl": address, "hookOutput": ""})

    def _tag(self, tag: str) -> None:
        if self.held.fail_tag:
            self.held.fail_tag -= 1
            self._send(500, {"error": "not now"})
            return
        self.held.tags[tag] = self._head()
        self._send(200, {})

    def _head(self) -> str:
        return hashlib.sha1(repr(self.held.commits).encode()).hexdigest()

    def _base(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def _send(self, status: int, content: Any) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _hash_blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _describe(name: str, data: bytes) -> dict[str, Any]:
    return {"type": "file", "path": name, "size": len(data), "oid": _hash_blob(data)}
