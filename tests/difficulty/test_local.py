"""The transformers voter on a tiny random model; skipped where torch is not installed (`pip install '.[local]'`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from hopwright.difficulty.ballots import cast  # noqa: E402
from hopwright.difficulty.local import LocalSettings, TransformersVoter, find_device, load_voter  # noqa: E402
from hopwright.difficulty.voters import MissingVote, view  # noqa: E402
from hopwright.errors import InputError  # noqa: E402
from tests.difficulty.voting_server import make_items  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CPU = {"device": "cpu"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qwen3's architecture, with the switch for thinking in its template."""
    folder = tmp_path_factory.mktemp("tiny")
    script = str(ROOT / "tests/e2e/tiny_model.py")
    subprocess.run([sys.executable, script, str(folder), "qwen3"], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def voter(tiny: Path) -> TransformersVoter:
    return load_voter("tiny", tiny, LocalSettings(**CPU))


def test_probabilities_are_those_of_the_letters_after_the_template(tiny: Path, voter: TransformersVoter) -> None:
    """Against a plain forward pass of the text, with all the vocabulary, one question at a time."""
    torch: Any = pytest.importorskip("torch")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny).eval()
    items = make_items(5)
    for item, found in zip(items, voter.choose([view(item) for item in items]), strict=True):
        asked = (
            "Answer the multiple-choice question with the letter of the right option and nothing else.\n\n"
            + item.question
            + "".join(
                f"\n{letter}. {text}" if letter != "A" else f"\n\nA. {text}" for letter, text in item.options.items()
            )
            + "\n\nAnswer:"
        )
        text = f"<|user|>{asked}</s><|assistant|><think></think>"
        tokens = tokenizer(text, return_tensors="pt", add_special_tokens=False)
        with torch.inference_mode():
            logits = model(**tokens).logits[0, -1].double()
        letters = logits[tokenizer.convert_tokens_to_ids(list("ABCD"))].softmax(-1).tolist()
        assert isinstance(found, tuple)
        assert found == pytest.approx(letters, abs=1e-5)


def test_the_size_of_batches_changes_no_vote(tiny: Path, voter: TransformersVoter) -> None:
    items = make_items(30) + make_items(5, start=10**9)
    whole, _ = cast(voter, items, seed=0)
    single, _ = cast(load_voter("tiny", tiny, LocalSettings(**CPU, batch_tokens=1)), items, seed=0)
    assert [one.option for one in whole] == [one.option for one in single]
    for one, other in zip(whole, single, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)


def test_a_prompt_that_is_too_long_is_no_vote(tiny: Path) -> None:
    short = load_voter("tiny", tiny, LocalSettings(**CPU, context=512))
    items = make_items(2)
    long = items[0].model_copy(update={"question": "Why? " * 800})
    answers = short.choose([view(long), view(items[1])])
    assert isinstance(answers[0], MissingVote)
    assert answers[0].kind == "rejected"
    assert isinstance(answers[1], tuple)


def test_it_writes_where_words_are_asked_for(tiny: Path, voter: TransformersVoter) -> None:
    (answer,) = voter.answer([("k", "Who?")])
    # A random model seldom ends by itself.
    assert isinstance(answer, (str, MissingVote))
    reasoning = load_voter("tiny", tiny, LocalSettings(**CPU, answering="reasoning"))
    (vote,) = reasoning.choose([view(make_items(1)[0])])
    assert isinstance(vote, MissingVote)


def test_a_model_without_a_template_is_refused(tiny: Path, tmp_path: Path) -> None:
    for path in tiny.iterdir():
        if path.name != "chat_template.jinja":
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(InputError, match="no chat template"):
        load_voter("tiny", tmp_path, LocalSettings(**CPU))


def test_weights_that_are_damaged_are_one_line(tiny: Path, tmp_path: Path) -> None:
    for path in tiny.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "config.json").unlink()
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}')
    with pytest.raises(InputError, match="cannot be loaded from") as caught:
        load_voter("tiny", tmp_path, LocalSettings(**CPU))
    assert "\n" not in str(caught.value)


def test_a_gpu_that_is_not_there_is_one_line() -> None:
    torch: Any = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        assert find_device(torch, "auto") == "cpu"
        with pytest.raises(InputError, match="no GPU here that torch can use"):
            find_device(torch, "cuda")
