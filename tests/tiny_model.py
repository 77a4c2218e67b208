"""A random language model of a few thousand weights with a tokenizer trained on the spot: it talks
nonsense, but it talks.
"""

TEXT = [
    "List the named entities of this passage.",
    "Thought: Selm is a port. Answer: Selm",
    '{"named_entities": ["Selm"]}',
] * 4
CHAT = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}</s>{% endfor %}{% if "
    "add_generation_prompt %}<|assistant|>{% endif %}"
)


def build_tiny_model(folder, chat_template=CHAT, window=4096):
    """Write a tiny random Llama and its byte-level tokenizer into `folder`; returns the folder as a
    string.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXT,
        trainers.BpeTrainer(vocab_size=400, special_tokens=["</s>"], initial_alphabet=alphabet),
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="</s>")
    fast.chat_template = chat_template
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=window,
        eos_token_id=0,
        pad_token_id=0,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)
