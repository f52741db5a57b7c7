"""MarianMT on tiny random weights made here: masks, batches and length limits. Meaning cannot be judged on such
weights.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from hopwright.counterfactual.marian import MarianBackTranslator
from hopwright.counterfactual.rewording_checks import accept_whole_text, mask
from hopwright.errors import ServiceError

WORDS = "the of a in what country city was born film which director year did play who that and are number".split()
LONGEST = 64


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    pytest.importorskip("torch", reason="the local extra is not installed")
    spm = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    transformers = pytest.importorskip("transformers", reason="the local extra is not installed")
    import torch

    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("marian")
    rng = random.Random(0)
    corpus = root / "corpus.txt"
    corpus.write_text("\n".join(" ".join(rng.choices(WORDS, k=12)) for _ in range(1500)))
    marks = [f"[N{number}]" for number in range(1, 10)]
    spm.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(root / "pieces"), vocab_size=48, user_defined_symbols=marks, minloglevel=2
    )
    pieces = spm.SentencePieceProcessor(model_file=str(root / "pieces.model"))
    names = [pieces.id_to_piece(number) for number in range(pieces.get_piece_size())]
    vocabulary = {piece: place for place, piece in enumerate(dict.fromkeys(["</s>", "<unk>", *names, "<pad>"]))}
    made = []
    for number, pair in enumerate(("en-zh", "zh-en")):
        folder = root / f"opus-mt-{pair}"
        folder.mkdir()
        for side in ("source", "target"):
            (folder / f"{side}.spm").write_bytes((root / "pieces.model").read_bytes())
        (folder / "vocab.json").write_text(json.dumps(vocabulary))
        transformers.MarianTokenizer(
            source_spm=str(folder / "source.spm"),
            target_spm=str(folder / "target.spm"),
            vocab=str(folder / "vocab.json"),
        ).save_pretrained(folder)
        torch.manual_seed(number)
        transformers.MarianMTModel(
            transformers.MarianConfig(
                vocab_size=len(vocabulary), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=LONGEST,
                pad_token_id=vocabulary["<pad>"], eos_token_id=0, decoder_start_token_id=vocabulary["<pad>"],
                forced_eos_token_id=0,
            )
        ).save_pretrained(folder)  # fmt: skip
        made.append(folder)
    return made


def test_the_languages_are_read_off_the_folders(folders: list[Path]) -> None:
    translator = MarianBackTranslator(folders)
    assert translator.find_obstacle() == ""
    assert translator.pivots == ("Chinese",) and translator.name == "marian opus-mt-en-zh opus-mt-zh-en"


def test_no_text_depends_on_the_others_of_its_batch(folders: list[Path]) -> None:
    rng = random.Random(1)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(2, 14))) for _ in range(9)]
    together = MarianBackTranslator(folders, batch=4).translate(texts)
    alone = [MarianBackTranslator(folders, batch=1).translate([text])[0] for text in texts]
    assert together == alone and all(one.text and not one.problem for one in together)
    backwards = MarianBackTranslator(folders, batch=4).translate(texts[::-1])
    assert backwards == together[::-1]


def test_a_text_that_is_too_long_comes_back_with_its_problem_and_is_never_cut(folders: list[Path]) -> None:
    short, long = MarianBackTranslator(folders).translate(["the city", "the " * (2 * LONGEST)])
    assert short.text and not short.problem
    assert not long.text and f"the model takes {LONGEST}" in long.problem


def test_what_random_weights_do_to_masks_gets_through_no_gate(folders: list[Path]) -> None:
    masked = mask("In what year was Ada Lindqvist of Vestmark born?", ["Ada Lindqvist", "Vestmark"], "brackets")
    for attempt in range(2):
        (back,) = MarianBackTranslator(folders).translate([masked.text], attempt)
        done = accept_whole_text(masked, back.text, ("Chinese",))
        assert done.text == masked.original and done.reason


def test_weights_that_are_not_there_are_an_obstacle_and_broken_ones_an_error(
    folders: list[Path], tmp_path: Path
) -> None:
    assert "at least two" in MarianBackTranslator(folders[:1]).find_obstacle()
    assert "no folder of MarianMT weights" in MarianBackTranslator([folders[0], tmp_path]).find_obstacle()
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ServiceError, match="cannot be loaded"):
        MarianBackTranslator([tmp_path, tmp_path]).translate(["the city"])
