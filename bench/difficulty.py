"""The difficulty filter: are verdicts right, how many votes are saved, and what does our path cost?

    python bench/difficulty.py [--items 10000] [--vllm .venvs/vllm/bin/python] [--skip wire|vllm|local ...]

wire   voters of known strength over HTTP: verdicts against the known ones, votes saved against asking everyone
vllm   votes a second of our path (templates, request store, ballots) against the same prompts sent raw to the same
       vLLM server, a tiny random model on the CPU or the GPU; medians of alternating runs
local  the transformers voter: with a GPU, random weights in Llama-3.1-8B's shape, prompts a second and the share of
       the card's matrix peak; without, a model of half a billion weights on the CPU
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
from difficulty_bound import RULE, SETS, SHARED

from hopwright.difficulty.ballots import Ballot, ballots_to_table, cast, draw_rotation, rotate
from hopwright.difficulty.endpoints import EndpointVoter, RequestStyle, list_request
from hopwright.difficulty.filtering import collect_votes, decide, list_open
from hopwright.difficulty.local import LocalSettings, TransformersVoter, import_transformers
from hopwright.difficulty.ordering import VoterOrder, keep_order, order_by_pilot
from hopwright.difficulty.prompting import word_choice
from hopwright.difficulty.vllm_server import ServerSettings, check_fit, place, serve
from hopwright.difficulty.voters import view
from hopwright.difficulty.weights import find_weights
from hopwright.errors import HopwrightError
from hopwright.llm.config import Endpoint, LimitSettings, LlmSettings
from hopwright.llm.judging import make_call
from hopwright.llm.providers import openai_wire
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef, Request
from hopwright.records import Item
from hopwright.records.arrow import encode_parquet

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.difficulty.voting_server import is_right, make_items  # noqa: E402
from tests.e2e.serving import serve as serve_model  # noqa: E402

ENSEMBLES = SETS[1:3]
PILOT = 200
CONCURRENCY = 128
PEAKS = {"H200": 989, "H100": 989, "A100": 312, "L40S": 362, "L4": 121, "A10": 125, "4090": 165}
"""Dense bfloat16 TFLOP/s, by their data sheets."""
SHAPES = {
    "8B": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 8, "vocab_size": 128_256},
    "0.5B": {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
             "num_key_value_heads": 8, "vocab_size": 32_000},
}  # fmt: skip


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--vllm", type=Path, default=ROOT / ".venvs/vllm/bin/python")
    parser.add_argument("--prompts", type=int, default=300, help="prompts of one run against vLLM")
    parser.add_argument("--runs", type=int, default=15, help="pairs of runs against vLLM")
    parser.add_argument("--skip", action="append", default=[], choices=["wire", "vllm", "local"])
    options = parser.parse_args()
    if "wire" not in options.skip:
        measure_wire(options.items)
    if "vllm" not in options.skip:
        measure_overhead(options.vllm, options.prompts, options.runs)
    if "local" not in options.skip:
        measure_local()


# --- voters of known strength -----------------------------------------------------------------------------------------


def measure_wire(count: int) -> None:
    """Verdicts and votes saved, over HTTP for one share of common luck, by the same code for others."""
    items = make_items(count)
    for accuracies, over_http in zip(ENSEMBLES, (0.5, 1.0), strict=True):
        print(f"wire: voters right on {', '.join(map(str, accuracies))} of the items")
        ask_over_http(items, name_models(accuracies, over_http), over_http)
        print("  votes saved against asking everyone:")
        print("  luck that is the item's | dropped | saved, listed order | saved, order of a pilot | the most possible")
        for shared in SHARED:
            print("  " + describe_saving(items, name_models(accuracies, shared), shared))


def name_models(accuracies: Sequence[float], shared: float) -> list[str]:
    """The names by which the server of voters knows how good each is."""
    return [f"v-{accuracy:g}-{shared:g}" for accuracy in accuracies]


def ask_over_http(items: list[Item], models: Sequence[str], shared: float) -> None:
    """The pilot and the filter against a server of voters."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_model("tests.difficulty.voting_server") as url,
        open_session_with(url, Path(folder) / "llm.sqlite", "local") as session,
    ):
        voters = [
            EndpointVoter(model, ModelRef("local", model), session, RequestStyle(native=True)) for model in models
        ]
        began = time.perf_counter()
        fates, asked, order = run_ensemble(items, voters)
        seconds = time.perf_counter() - began
    wanted = find_fates(items, models)
    wrong = sum(fates[id] != fate for id, fate in wanted.items())
    dropped = sum(fate == "dropped" for fate in wanted.values())
    count = len(items)
    print(
        f"  over HTTP, {shared:g} of the luck the item's: {count:,} items in {seconds:.0f} s ({asked / seconds:,.0f} "
        f"votes/s with the server on the same machine): {wrong} wrong verdicts, {dropped / count:.1%} dropped; "
        f"{asked:,} votes asked, the pilot's included, {1 - asked / count / len(models):.1%} saved, in the order "
        f"{[order.sequence.index(index) + 1 for index in range(len(models))]}"
    )


def run_ensemble(items: list[Item], voters: Sequence[EndpointVoter]) -> tuple[dict[str, str], int, VoterOrder]:
    """A pilot, then one voter after the other over what is open; returns fates, votes asked, the order."""
    pilot = items[:PILOT]
    tables = [{ballot.item: ballot.right for ballot in cast(voter, pilot, seed=0)[0]} for voter in voters]
    order = order_by_pilot([tuple(table.get(item.id) for table in tables) for item in pilot], [1.0] * 4, RULE)
    asked = len(pilot) * len(voters)
    ballots: dict[str, dict[str, Ballot]] = {}
    for index in order.sequence:
        open_items = list_open(items, list(ballots.values()), RULE)
        given: list[Ballot] = []
        for start in range(0, len(open_items), 500):
            given += cast(voters[index], open_items[start : start + 500], seed=0)[0]
        ballots[voters[index].name] = {ballot.item: ballot for ballot in given}
        asked += sum(item.id not in tables[index] for item in open_items)
    kept, dropped = decide(items, collect_votes(ballots.values()), RULE)
    return {item.id: "kept" for item in kept} | {row.key: "dropped" for row in dropped}, asked, order


def find_fates(items: Sequence[Item], models: Sequence[str]) -> dict[str, str]:
    """The verdicts of asking everyone, from what the voters are known to answer."""
    return {
        item.id: RULE.conclude(right := sum(row), len(row) - right)
        for item, row in zip(items, list_rows(items, models), strict=True)
    }


def list_rows(items: Sequence[Item], models: Sequence[str]) -> list[tuple[bool, ...]]:
    """Right or wrong by item and voter."""
    return [tuple(bool(is_right(model, f"[item {int(item.id[3:])}]")) for model in models) for item in items]


def describe_saving(items: Sequence[Item], models: Sequence[str], shared: float) -> str:
    """One line: what stopping early saves with voters that share so much."""
    rows = list_rows(items, models)
    everyone = len(rows) * len(models)
    found = order_by_pilot(rows[:PILOT], [1.0] * 4, RULE)
    saved = [
        1 - sum(RULE.count_calls([row[index] for index in order.sequence]) for row in rows) / everyone
        for order in (keep_order(4, [1.0] * 4), found)
    ]
    least = sum(RULE.count_least(sum(row), len(row) - sum(row)) for row in rows)
    dropped = sum(sum(row) > RULE.max_right for row in rows) / len(rows)
    return f"{shared:>4g} | {dropped:.1%} | {saved[0]:.1%} | {saved[1]:.1%} | {1 - least / everyone:.1%}"


# --- overhead over raw requests ---------------------------------------------------------------------------------------


def measure_overhead(python: Path, count: int, runs: int) -> None:
    """Our path and raw requests in turn, against one vLLM."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            make_tiny_model(folder / "tiny", python)
            settings = ServerSettings(python, context=2048, memory_share=0.3)
            weights, placement = find_weights(str(folder / "tiny")), place(settings)
            check_fit("tiny", weights, placement, settings)
            with serve("tiny", weights, placement, settings, folder) as servers:
                compare(servers[0].url, folder, count, runs)
        except HopwrightError as error:
            print(f"vllm: not run: {error}")


def compare(url: str, folder: Path, count: int, runs: int) -> None:
    """Every run has prompts of its own, for vLLM remembers; one pair comes before, unmeasured.

    A pair is one run of each right after the other, and which one begins takes turns, so that what else the machine
    does falls on both alike. The clock answers the question where nothing else runs; the CPU of this process does not
    depend on that.
    """
    ours: list[tuple[float, float]] = []
    raw: list[tuple[float, float]] = []
    for run in range(runs + 1):
        mine, theirs = make_items(count, start=2 * run * count), make_items(count, start=(2 * run + 1) * count)
        store = folder / f"{run}.sqlite"
        if run % 2:
            pair = [measure_ours(url, store, mine), measure_raw(url, theirs)]
        else:
            pair = [measure_raw(url, theirs), measure_ours(url, store, mine)][::-1]
        if run:
            ours.append(pair[0])
            raw.append(pair[1])
    rates = [[count / wall for wall, _ in measured] for measured in (ours, raw)]
    costs = [statistics.median(1000 * cpu / count for _, cpu in measured) for measured in (ours, raw)]
    overheads = [one / other - 1 for (one, _), (other, _) in zip(ours, raw, strict=True)]
    print(f"vllm: {runs} pairs of {count} prompts, {CONCURRENCY} in flight; median (quartiles; least to most)")
    print(f"  our path: {spread(rates[0], '.1f')} votes/s; raw: {spread(rates[1], '.1f')} votes/s")
    print(f"  overhead within a pair: {spread(overheads, '+.1%')}")
    print(
        f"  CPU of the asking process: {costs[0]:.2f} ms a vote by our path, {costs[1]:.2f} raw, which is "
        f"{(costs[0] - costs[1]) * statistics.median(rates[1]) / 10:.1f} % of a processor at the raw rate"
    )


def spread(values: Sequence[float], form: str) -> str:
    """The median, the quartiles, the least and the most."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    ends = f"{min(values):{form}} to {max(values):{form}}"
    return f"{middle:{form}} ({low:{form}} to {high:{form}}; {ends})"


def measure_ours(url: str, store: Path, items: list[Item]) -> tuple[float, float]:
    """Seconds from items to ballots in a Parquet file, by the clock and of this process's CPU."""
    with open_session_with(url, store, "vllm") as session:
        voter = EndpointVoter("tiny", ModelRef("vllm", "tiny"), session, RequestStyle(native=True))
        began, busy = time.perf_counter(), time.process_time()
        ballots, unanswered = cast(voter, items, seed=0)
        encode_parquet(ballots_to_table(ballots))
        measured = time.perf_counter() - began, time.process_time() - busy
    assert not unanswered, unanswered[0]
    return measured


def measure_raw(url: str, items: list[Item]) -> tuple[float, float]:
    """Seconds for the same kind of bodies, made before the clock starts and sent by bare aiohttp."""
    target = ModelRef("vllm", "tiny")
    bodies = []
    for item in items:
        choice = rotate(view(item), draw_rotation(0, "tiny", item.id))
        bodies.append(make_body(list_request(choice, target, RequestStyle(native=True)), target))
    return asyncio.run(send_all(f"{url}/v1/chat/completions", bodies))


def make_body(request: Request, target: ModelRef) -> bytes:
    """The body as our path sends it."""
    call = make_call(request, target, request.messages, native_choices=True)
    return json.dumps(openai_wire.build_body(call, "vllm"), ensure_ascii=False).encode()


async def send_all(url: str, bodies: list[bytes]) -> tuple[float, float]:
    """Send with the same number in flight; returns the seconds by the clock and of this process's CPU."""
    free = asyncio.Semaphore(CONCURRENCY)
    headers = {"Content-Type": "application/json"}

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began, busy = time.perf_counter(), time.process_time()
        await asyncio.gather(*(send_one(session, free, url, body, headers) for body in bodies))
        return time.perf_counter() - began, time.process_time() - busy


async def send_one(
    session: aiohttp.ClientSession, free: asyncio.Semaphore, url: str, body: bytes, headers: dict[str, str]
) -> None:
    """Send one body and read its answer."""
    async with free, session.post(url, data=body, headers=headers) as response:
        assert response.status == 200, await response.text()
        json.loads(await response.read())


def open_session_with(url: str, store: Path, name: str) -> Session:
    """A session that asks this server with a fixed number in flight."""
    limits = LimitSettings(max_concurrency=CONCURRENCY, start_concurrency=CONCURRENCY)
    endpoint = Endpoint(name=name, base_url=f"{url}/v1", dialect="vllm", free=True, limits=limits)
    return Session(LlmSettings(endpoints=(endpoint,)), store)


def make_tiny_model(folder: Path, python: Path) -> None:
    """A random tiny Llama. Made by whichever environment has transformers."""
    chosen = python if python.is_file() else Path(sys.executable)
    subprocess.run(
        [str(chosen), str(ROOT / "tests/e2e/tiny_model.py"), str(folder), "llama"], check=True, capture_output=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip


# --- the transformers voter -------------------------------------------------------------------------------------------


def measure_local() -> None:
    """Random weights in a real shape; the tokenizer is a small one, so the prompts are longer than they would be."""
    try:
        torch, transformers = import_transformers()
    except HopwrightError as error:
        print(f"local: not run: {error}")
        return
    has_gpu = torch.cuda.is_available()
    shape = "8B" if has_gpu else "0.5B"
    with tempfile.TemporaryDirectory() as name:
        make_tiny_model(Path(name), Path(sys.executable))
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, padding_side="left")
    config = transformers.LlamaConfig(**SHAPES[shape], max_position_embeddings=4096, pad_token_id=2)
    with torch.device("cuda" if has_gpu else "cpu"):
        model = transformers.LlamaForCausalLM._from_config(config, dtype=torch.bfloat16 if has_gpu else torch.float32)
    voter = TransformersVoter(shape, model, tokenizer, LocalSettings())
    items = make_items(2000 if has_gpu else 12)
    choices = [view(item) for item in items]
    voter.choose(choices[: len(items) // 4])
    synchronise(torch, has_gpu)
    began = time.perf_counter()
    voter.choose(choices)
    synchronise(torch, has_gpu)
    seconds = time.perf_counter() - began
    lengths = [len(voter._encode(word_choice(choice, "letter"))) for choice in choices]
    tokens, flops = sum(lengths), count_flops(model, config, lengths)
    print(
        f"local: {shape} with random weights on {describe_device(torch, has_gpu)}: "
        f"{len(items) / seconds:,.1f} prompts/s, {tokens / seconds:,.0f} tokens/s, {tokens / len(items):.0f} tokens a "
        f"prompt, {flops / seconds / 1e12:.2f} TFLOP/s"
    )
    peak = measure_peak(torch, has_gpu)
    print(
        f"  {flops / seconds / peak:.0%} of what a matrix product of 8192 (CPU: 2048) reaches here, "
        f"{peak / 1e12:.2f} TFLOP/s"
        + (describe_nominal(torch, flops / seconds) if has_gpu else "; no GPU: not run there")
    )


def count_flops(model: Any, config: Any, lengths: Sequence[int]) -> float:
    """Two a weight and token in the layers, the attention's products, and the head for one place of each prompt."""
    layers = sum(parameter.numel() for parameter in model.model.layers.parameters())
    head = config.vocab_size * config.hidden_size
    attention = sum(4 * config.num_hidden_layers * config.hidden_size * length**2 / 2 for length in lengths)
    return 2.0 * layers * sum(lengths) + attention + 2.0 * head * len(lengths)


def measure_peak(torch: Any, has_gpu: bool) -> float:
    """FLOP/s of a large square matrix product, the median of ten."""
    size = 8192 if has_gpu else 2048
    device, dtype = ("cuda", torch.bfloat16) if has_gpu else ("cpu", torch.float32)
    one, other = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    times = []
    for _ in range(12):
        synchronise(torch, has_gpu)
        began = time.perf_counter()
        torch.matmul(one, other)
        synchronise(torch, has_gpu)
        times.append(time.perf_counter() - began)
    return 2.0 * size**3 / statistics.median(times[2:])


def describe_nominal(torch: Any, rate: float) -> str:
    """The share of the data sheet's figure, where we know it."""
    name = torch.cuda.get_device_name(0)
    peak = next((peak for card, peak in PEAKS.items() if card in name), None)
    return f"; {rate / 1e12 / peak:.0%} of the data sheet's {peak} TFLOP/s (dense bfloat16)" if peak else ""


def describe_device(torch: Any, has_gpu: bool) -> str:
    """The card, or the processor."""
    return torch.cuda.get_device_name(0) if has_gpu else f"the CPU ({torch.get_num_threads()} threads); no GPU here"


def synchronise(torch: Any, has_gpu: bool) -> None:
    """Wait for the card."""
    if has_gpu:
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
