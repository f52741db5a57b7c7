"""Faults on the way to a real SPARQL server, kills and shared caches: nothing is lost, doubled or asked twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hopwright.errors import ServiceError
from hopwright.knowledge.wikidata.sparql import AnswerCache, verify_lookup, write_literals
from hopwright.knowledge.wikidata.store import GraphStore
from tests.conftest import ROOT
from tests.e2e.sparql.asking import BORN, MARKS, fetch_literals, make_client
from tests.sparql_servers import FaultProxy

pytestmark = MARKS


@pytest.mark.parametrize("fault", ["429 1", "503 1"])
def test_retry_after_is_obeyed_to_the_second(served_sample: str, fault: str) -> None:
    with FaultProxy(served_sample, {1: fault, 2: fault}) as proxy:
        client = make_client(proxy.url, first_wait_s=0)
        waits: list[float] = []
        client._sleep = lambda seconds: (waits.append(seconds), time.sleep(seconds))
        assert verify_lookup(client, "Q17", "P30", "Q48").status == "confirmed"
        first, second, third = (seen.at for seen in proxy.seen[:3])
    assert waits == [1, 1]
    assert second - first >= 1.0 and third - second >= 1.0


def test_a_pause_longer_than_allowed_is_reported_at_once(served_sample: str) -> None:
    with FaultProxy(served_sample, always="429 3600") as proxy:
        with pytest.raises(ServiceError, match=r"asks to wait 3600 s.*run again later"):
            make_client(proxy.url).ask("ASK { }")
        assert len(proxy.seen) == 1


def test_faults_on_the_way_lose_and_double_nothing(served_sample: str, sample: GraphStore, tmp_path: Path) -> None:
    ids = sample.literal_subjects(BORN)[:60]
    calm = fetch_literals(make_client(served_sample, batch_size=10), ids, [BORN])
    faults = {1: "500", 3: "cut", 4: "drop", 6: "html", 7: "half", 9: "hang", 11: "429 0", 12: "503 0"}
    with FaultProxy(served_sample, faults) as proxy:
        cache = AnswerCache(tmp_path / "cache.db")
        client = make_client(proxy.url, cache, batch_size=10, timeout_s=4)
        stormy = fetch_literals(client, ids, [BORN])
        queries = proxy.answered()
        assert len(proxy.seen) == client.requests == 6 + len(faults)
        assert stormy == calm and len(stormy.literals) >= 60
        assert len(queries) == len(set(queries)) == len(cache) == 6
        assert fetch_literals(client, ids, [BORN]) == calm
        assert len(proxy.seen) == 6 + len(faults)  # all from the cache


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("500", r"fails \(HTTP 500: not now\) in 3 tries; run again later"),
        ("429", r"is asked too often \(HTTP 429\) in 3 tries"),
        ("hang", r"did not answer within 0.3 s in 3 tries; use a smaller batch size"),
        ("cut", r"cut the connection"),
        ("drop", r"cut the connection"),
        ("html", r"answers with a page \(text/html: .*come back later.*\).*check that the address"),
        ("half", r"sends no whole SPARQL JSON"),
    ],
)
def test_a_fault_that_stays_is_one_clear_line(served_sample: str, fault: str, words: str) -> None:
    with FaultProxy(served_sample, always=fault) as proxy:
        client = make_client(proxy.url, max_tries=3, timeout_s=0.3 if fault == "hang" else 5)
        with pytest.raises(ServiceError, match=words) as caught:
            client.select("SELECT ?s WHERE { ?s ?p ?o } LIMIT 50")
        assert len(proxy.seen) == 3
    assert proxy.url in str(caught.value) and "\n" not in str(caught.value)


def test_a_refused_query_is_not_sent_again(served_sample: str) -> None:
    client = make_client(served_sample)
    with pytest.raises(ServiceError, match=r"refuses the query \(HTTP 400"):
        client.select("SELECT nonsense")
    assert client.requests == 1


def test_an_endpoint_that_is_not_there_is_named(sample: GraphStore) -> None:
    client = make_client("http://127.0.0.1:9/sparql", max_tries=2)
    with pytest.raises(ServiceError, match=r"127.0.0.1:9/sparql cannot be reached .* in 2 tries; check the address"):
        client.ask("ASK { }")


def test_the_store_stands_in_for_an_endpoint_that_fails(served_sample: str, sample: GraphStore, tmp_path: Path) -> None:
    ids = sample.literal_subjects(BORN)[:40]
    cache = AnswerCache(tmp_path / "cache.db")
    with FaultProxy(served_sample) as proxy:
        fetch_literals(make_client(proxy.url, cache, batch_size=10), [*ids[:10], *ids[20:30]], [BORN])
        proxy.always = "500"
        client = make_client(proxy.url, cache, batch_size=10, max_tries=2)
        harvest = fetch_literals(client, ids, [BORN], sample)
        assert client.requests == 2  # it is not asked again once it has failed
        with pytest.raises(ServiceError):
            fetch_literals(client, ids, [BORN])
    assert harvest.origin == "mixed" and "the store's own literals stand in" in harvest.note
    origins = [literal.origin for literal in harvest.literals]
    assert {"endpoint", "store"} == set(origins)
    offline = fetch_literals(None, ids, [BORN], sample)
    assert offline.origin == "store" and "offline" in offline.note
    assert [literal.fact for literal in offline.literals] == [literal.fact for literal in harvest.literals]


def test_long_queries_go_by_post_and_say_who_asks(served_sample: str, sample: GraphStore) -> None:
    with FaultProxy(served_sample) as proxy:
        client = make_client(proxy.url, contact="maintainer@example.org", post_from=1000)
        fetch_literals(client, ["Q17"], [BORN])
        fetch_literals(client, sample.literal_subjects(BORN)[:100], [BORN])
        assert [seen.method for seen in proxy.seen] == ["GET", "POST"]
        assert all("hopwright/" in seen.agent and "maintainer@example.org" in seen.agent for seen in proxy.seen)


CHILD = """
import sys
from pathlib import Path
from hopwright.knowledge.wikidata.sparql import AnswerCache, SparqlClient, SparqlSettings, write_literals
url, cache, out, property, *ids = sys.argv[1:]
settings = SparqlSettings(endpoint=url, dialect="truthy", batch_size=10, timeout_s=20)
report = write_literals(SparqlClient(settings, AnswerCache(Path(cache))), ids, [property], Path(out))
print(report.requests, report.cached)
"""


@pytest.mark.parametrize("held", [1, 5, 12])
def test_a_killed_fetch_goes_on_where_it_was(served_sample: str, sample: GraphStore, tmp_path: Path, held: int) -> None:
    ids = sample.literal_subjects(BORN)[:120]
    out, cache = tmp_path / "out.tsv", tmp_path / "cache.db"
    with FaultProxy(served_sample, {held: "hang"}) as proxy:
        command = [sys.executable, "-c", CHILD, proxy.url, str(cache), str(out), BORN, *ids]
        child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
        proxy.wait_for(held)
        child.send_signal(signal.SIGKILL)
        assert child.wait(60) == -signal.SIGKILL
        proxy.let_go.set()
        assert not out.exists()
        before = proxy.answered()
        assert len(before) == held - 1
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
        sent = [seen.query for seen in proxy.seen[held:]]
    assert done.stdout.split() == [str(12 - (held - 1)), str(held - 1)]
    assert not set(sent) & set(before) and len(set(sent) | set(before)) == 12
    write_literals(make_client(served_sample, batch_size=10), ids, [BORN], tmp_path / "calm.tsv")
    assert out.read_bytes() == (tmp_path / "calm.tsv").read_bytes() != b""
    assert not list(tmp_path.glob(".*"))  # nothing half-written is left behind


def test_two_processes_share_a_cache(served_sample: str, sample: GraphStore, tmp_path: Path) -> None:
    ids = sample.literal_subjects(BORN)[:60]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with FaultProxy(served_sample) as proxy:
        start = [sys.executable, "-c", CHILD, proxy.url, str(tmp_path / "c.db")]
        outs = [tmp_path / "1.tsv", tmp_path / "2.tsv"]
        children = [subprocess.Popen([*start, str(out), BORN, *ids], cwd=ROOT, env=env) for out in outs]
        assert [child.wait(300) for child in children] == [0, 0]
    assert (tmp_path / "1.tsv").read_bytes() == (tmp_path / "2.tsv").read_bytes() != b""
    assert len(AnswerCache(tmp_path / "c.db")) == 6
