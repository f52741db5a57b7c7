"""A tiny policy that learns to search by TRL's GRPO, over a running server of episodes; one seed a call.

Each seed begins with an imitation of its own, which the first call for it makes.

Runs in an environment of its own (`make trl`); of Hopwright it needs only the client that it exports. The policy begins
as an imitation of a crowd: some agents search hop by hop, others guess, give up half-way, pad, or write no
action. The crowd lives in worlds that are drawn anew for every transcript, so the imitation knows how to copy names and
no fact. What GRPO then has to find is which of these ways pays. Only tokens that the policy wrote enter the loss.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.update(TRL_EXPERIMENTAL_SILENCE="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hopwright" / "exports" / "templates" / "agents"))

import torch
from datasets import Dataset
from hopwright_client import Environment
from tokenizers import Tokenizer, models
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

PIECE = re.compile(r"\[[^\]]*\]|</?[a-z]+>|[A-Za-z_]+|\S")
TAGS = ["<think>", "</think>", "<search>", "</search>", "<answer>", "</answer>", "<information>", "</information>"]
WORDS = (
    "[id] Which land is the home of lives in lies . ? This call cannot be carried out : there no tool ' no_action ; "
    "tools are search , read No left Give final answer now passage was found"
).split()
ENDS = ("</search>", "</answer>")
LONGEST_TURN = 10
MOST_TURNS = 8
CROWD = {"searches": 0.2, "guesses": 0.25, "gives up": 0.2, "pads": 0.2, "malformed": 0.15}


class Words:
    """The vocabulary: one token a word; a passage's id is one, too."""

    def __init__(self, names: list[str]) -> None:
        self.list = ["<pad>", "</s>", "<unk>", *TAGS, *dict.fromkeys(WORDS), *names]
        self.number = {word: place for place, word in enumerate(self.list)}
        raw = Tokenizer(models.WordLevel(self.number, unk_token="<unk>"))
        self.tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
        )

    def read(self, text: str) -> list[int]:
        """The tokens of a text."""
        pieces = ("[id]" if piece.startswith("[") else piece for piece in PIECE.findall(text))
        return [self.number.get(piece, 2) for piece in pieces]

    def write(self, tokens: list[int]) -> str:
        """The text of tokens."""
        return " ".join(self.list[one] for one in tokens if one > 1)


def imitate(policy: LlamaForCausalLM, words: Words, world: dict[str, list[str]], seed: int, steps: int) -> None:
    """Train on transcripts of the crowd."""
    draw = random.Random(f"{seed}:crowd")
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=steps, pct_start=0.1)
    for _ in range(steps):
        rows = [play_in_the_crowd(words, world, draw) for _ in range(32)]
        longest = max(len(tokens) for tokens, _ in rows)
        ids = torch.tensor([tokens + [0] * (longest - len(tokens)) for tokens, _ in rows])
        kept = torch.tensor([mask + [0] * (longest - len(mask)) for _, mask in rows])
        logits = policy(input_ids=ids, attention_mask=(ids != 0).long()).logits[:, :-1]
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), torch.where(kept[:, 1:] == 1, ids[:, 1:], -100).flatten(), ignore_index=-100
        )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def play_in_the_crowd(words: Words, world: dict[str, list[str]], draw: random.Random) -> tuple[list[int], list[int]]:
    """A transcript of one agent in a world of its own: its tokens, and 1 for each that the agent wrote."""
    person, town, land = (draw.choice(world[kind]) for kind in ("people", "towns", "lands"))
    tokens = words.read(ask(person))
    mask = [0] * len(tokens)
    way = draw.choices(list(CROWD), list(CROWD.values()))[0]
    lives = f"[id] {person} {person} lives in {town} ."
    lies = [f"[id] {town} {town} lies in {land} ."]
    others = [name for name in draw.sample(world["people"], 3) if name != person][: draw.randint(0, 2)]
    lies += [f"[id] {name} {name} lives in {town} ." for name in others]
    draw.shuffle(lies)
    guess = f"<answer> {draw.choice(world['lands'])} </answer>"
    look = (f"<search> {person} </search>", lives)
    go_on = (f"<think> {town} </think> <search> {town} </search>", " ".join(lies[:3]))
    end = f"<think> {land} </think> <answer> {land} </answer>"
    nothing = "This call cannot be carried out : there is no tool ' no_action ' ; the tools are search , read ."
    turns: list[tuple[str, str]]
    if way == "searches":
        turns = [look, go_on, (end, "")]
    elif way == "guesses":
        turns = [(guess, "")]
    elif way == "gives up":
        turns = [look, (f"<think> {town} </think> {guess}", "")]
    elif way == "pads":
        turns = [look] * draw.randint(2, 3) + [go_on, (end, "")]
    else:
        turns = [(f"{person} </s>", nothing), look, go_on, (end, "")]
    for said, shown in turns:
        own = [1 if piece == "</s>" else words.number[piece] for piece in said.split()]
        tokens += own
        mask += [1] * len(own)
        if shown:
            told = words.read(f"<information> {shown} </information>")
            tokens += told
            mask += [0] * len(told)
    return tokens, mask


def ask(person: str) -> str:
    """The question as the policy sees it."""
    return f"Which land is the home of {person} ?"


class Rollouts:
    """Plays batches of episodes on the server, all of them at once."""

    def __init__(self, url: str, words: Words, tasks: dict[str, str], name: str) -> None:
        self._environment = Environment(url)
        self._words = words
        self._tasks = tasks
        self._name = name
        self._batch = 0
        self.seconds = {"server": 0.0, "policy": 0.0}

    def play(self, policy: Any, prompts: list[str]) -> dict[str, list[Any]]:
        """Episodes of these questions, one each: tokens, masks, log-probabilities and what each is worth."""
        self._batch += 1
        ids = [f"{self._name}-{self._batch}-{number}" for number in range(len(prompts))]
        begun = [{"episode": id, "task": self._tasks[prompt]} for id, prompt in zip(ids, prompts, strict=True)]
        self._ask(self._environment.reset, episodes=begun, form="tags")
        heads = [self._words.read(prompt) for prompt in prompts]
        rows: list[list[int]] = [[] for _ in prompts]
        masks: list[list[int]] = [[] for _ in prompts]
        chances: list[list[float]] = [[] for _ in prompts]
        results: list[dict[str, Any] | None] = [None] * len(prompts)
        for turn in range(MOST_TURNS):
            going = [place for place, result in enumerate(results) if result is None]
            if not going:
                break
            said = self._say(policy, [heads[place] + rows[place] for place in going])
            steps = []
            for place, (tokens, logs) in zip(going, said, strict=True):
                rows[place] += tokens
                masks[place] += [1] * len(tokens)
                chances[place] += logs
                steps.append({"episode": ids[place], "turn": turn, "text": self._words.write(tokens)})
            for place, reply in zip(going, self._ask(self._environment.step, steps), strict=True):
                if reply["done"]:
                    results[place] = reply
                    continue
                shown = " ".join(one["text"] for one in reply["observations"])
                told = self._words.read(f"<information> {shown} </information>")
                rows[place] += told
                masks[place] += [0] * len(told)
                chances[place] += [0.0] * len(told)
        return {
            "prompt_ids": heads,
            "completion_ids": rows,
            "env_mask": masks,
            "logprobs": chances,
            "worth": [0.0 if one is None else one["rewards"]["hops"] for one in results],
            "right": [float(one is not None and one["right"]) for one in results],
        }

    @torch.no_grad()
    def _say(self, policy: Any, contexts: list[list[int]]) -> list[tuple[list[int], list[float]]]:
        """One turn after each context, drawn at temperature 1, with the tokens' log-probabilities."""
        began = time.monotonic()
        longest = max(map(len, contexts))
        ids = torch.tensor([[0] * (longest - len(one)) + one for one in contexts])
        seen = (ids != 0).long()
        places = (seen.cumsum(1) - 1).clamp(min=0)
        cache = DynamicCache()
        said: list[tuple[list[int], list[float]]] = [([], []) for _ in contexts]
        ends = {self._words.number[word] for word in ENDS} | {1}
        done = [False] * len(contexts)
        for _ in range(LONGEST_TURN):
            out = policy(input_ids=ids, attention_mask=seen, position_ids=places, past_key_values=cache, use_cache=True)
            logs = out.logits[:, -1].float().log_softmax(-1)
            drawn = torch.multinomial(logs.exp(), 1)
            for place, token in enumerate(drawn[:, 0].tolist()):
                if not done[place]:
                    said[place][0].append(token)
                    said[place][1].append(float(logs[place, token]))
                    done[place] = token in ends
            if all(done):
                break
            ids, places = drawn, places[:, -1:] + 1
            seen = torch.cat([seen, torch.ones_like(drawn)], 1)
        self.seconds["policy"] += time.monotonic() - began
        return said

    def _ask(self, call: Any, *rows: Any, **named: Any) -> Any:
        began = time.monotonic()
        reply = call(*rows, **named)
        self.seconds["server"] += time.monotonic() - began
        return reply


def measure(rollouts: Rollouts, policy: Any, prompts: list[str]) -> dict[str, float]:
    """What the policy is worth on questions, over four episodes each."""
    policy.eval()
    played = rollouts.play(policy, prompts * 4)
    return {name: sum(played[name]) / len(played[name]) for name in ("worth", "right")}


def main() -> None:
    """Make the imitation, or train one seed from it and print what came of it as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("world", type=Path, help="names and tasks, as bench/training.py writes them")
    parser.add_argument("policy", type=Path, help="where the imitation is kept; made where it is missing, and no more")
    parser.add_argument("--url", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--imitation", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=70)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    world = json.loads(given.world.read_text())
    words = Words([*world["people"], *world["towns"], *world["lands"]])
    policy = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(words.list), hidden_size=256, intermediate_size=768, num_hidden_layers=3,
            num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=512, pad_token_id=0, bos_token_id=1,
            eos_token_id=1, tie_word_embeddings=False,
        )
    )  # fmt: skip
    if not given.policy.exists():
        imitate(policy, words, world, given.seed, given.imitation)
        torch.save(policy.state_dict(), given.policy)
        return
    policy.load_state_dict(torch.load(given.policy))
    began = time.monotonic()
    tasks = {ask(person): task for split in ("train", "test") for person, task in world[split].items()}
    trained, tested = ([ask(person) for person in world[split]] for split in ("train", "test"))
    rollouts = Rollouts(given.url, words, tasks, f"seed{given.seed}")
    before = measure(rollouts, policy, tested)
    curve: list[float] = []

    def roll_out(prompts: list[str], trainer: GRPOTrainer) -> dict[str, list[Any]]:
        played = rollouts.play(trainer.model, prompts)
        curve.append(sum(played["worth"]) / len(played["worth"]))
        return played

    def pay(prompts: list[str], completions: list[str], worth: list[float], **_: Any) -> list[float]:
        return worth

    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder, use_cpu=True, seed=given.seed, max_steps=given.steps, learning_rate=2e-4,
            lr_scheduler_type="constant_with_warmup", warmup_steps=5, per_device_train_batch_size=64, num_generations=8,
            max_completion_length=256, temperature=1.0, beta=0.0, report_to=[], save_strategy="no", logging_steps=1000,
            disable_tqdm=True, gradient_checkpointing=False, bf16=False, dataloader_pin_memory=False,
        )  # fmt: skip
        trainer = GRPOTrainer(
            policy, reward_funcs=pay, args=config, rollout_func=roll_out, processing_class=words.tokenizer,
            train_dataset=Dataset.from_dict({"prompt": trained}),
        )  # fmt: skip
        trainer.train()
    after = measure(rollouts, trainer.model, tested)
    result = {
        "seed": given.seed,
        "weights": sum(one.numel() for one in policy.parameters()),
        "before": before,
        "after": after,
        "curve": [round(one, 4) for one in curve],
        "seconds": {"all": time.monotonic() - began, **rollouts.seconds},
    }
    print(f"RESULT {json.dumps(result)}")


if __name__ == "__main__":
    main()
