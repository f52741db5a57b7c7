"""Makes a tiny model with random weights, a tokenizer trained on a few lines and a chat template.

Run by an environment with transformers: `python tests/e2e/tiny_model.py FOLDER [FAMILY [SEED]]`. The families are
those of the four models of Omanic's filter; their templates differ as the real ones do: Qwen3's has a switch for
thinking, Mistral's and Gemma's refuse a system turn. `idefics3` is one that sees pictures: vLLM serves this
architecture without torchvision.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

FAMILIES = {
    "llama": ("LlamaConfig", "LlamaForCausalLM"),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM"),
    "mistral": ("MistralConfig", "MistralForCausalLM"),
    "gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM"),
}
_OF_PICTURES = ["<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>"]
NO_SYSTEM = "{% if message['role'] == 'system' %}{{ raise_exception('no system turn') }}{% endif %}"
TEMPLATE = (
    "{% for message in messages %}CHECK<|{{ message['role'] }}|>"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>THINK{% endif %}"
)
NO_THINKING = "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
CORPUS = [
    "Which country covers the larger area?", "In what year was the party founded?",
    '{"answer": "Ireland", "number": 35}',
    "The author of the play was born in Dublin.", "How many committees of 3 can be formed from 7 people?",
] * 50  # fmt: skip


def main() -> None:
    """Write the model to the folder given."""
    folder = Path(sys.argv[1])
    family = sys.argv[2] if len(sys.argv) > 2 else "llama"
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.BPE(unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    specials = ["<s>", "</s>", "<pad>", "<|system|>", "<|user|>", "<|assistant|>"]
    specials += _OF_PICTURES if family == "idefics3" else []
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    template = TEMPLATE.replace("CHECK", NO_SYSTEM if family in ("mistral", "gemma3") else "")
    template = template.replace("THINK", NO_THINKING if family == "qwen3" else "")
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", chat_template=template
    )
    fast.save_pretrained(folder)
    torch.manual_seed(seed)
    if family == "idefics3":
        _save_seeing(folder, fast, template)
        return
    config_name, model_name = FAMILIES[family]
    more = {"sliding_window": 512} if family == "gemma3" else {"sliding_window": None} if family == "mistral" else {}
    # Heads of 64: vLLM on the CPU knows no smaller ones.
    config = getattr(transformers, config_name)(
        vocab_size=len(fast), hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=64, max_position_embeddings=4096, bos_token_id=0, eos_token_id=1,
        pad_token_id=2, initializer_range=0.2 if len(sys.argv) > 2 else 0.02, **more,
    )  # fmt: skip
    getattr(transformers, model_name)(config).save_pretrained(folder)


def _save_seeing(folder: Path, tokenizer: PreTrainedTokenizerFast, template: str) -> None:
    """A model that sees pictures of 112 by 112 points, each as 16 tokens."""
    # Not exported by transformers, which names the processor that needs torchvision instead.
    from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

    edge = {"longest_edge": 112}
    looking = Idefics3ImageProcessorPil(size=edge, max_image_size=edge, do_image_splitting=False)
    processor = transformers.Idefics3Processor(looking, tokenizer, image_seq_len=16, chat_template=template)
    seeing: dict[str, Any] = {
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 1,
        "image_size": 112, "patch_size": 14,
    }  # fmt: skip
    words = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=64, max_position_embeddings=4096, bos_token_id=0, eos_token_id=1,
        pad_token_id=2, initializer_range=0.2,
    )  # fmt: skip
    config = transformers.Idefics3Config(
        vision_config=seeing, text_config=words, image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2, pad_token_id=2, tie_word_embeddings=False,
    )  # fmt: skip
    transformers.Idefics3ForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)


if __name__ == "__main__":
    main()
