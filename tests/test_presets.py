"""The papers' encoders: pooling, prefixes, heads and lengths, each on a tiny random model of the
same kind and against a computation by hand.
"""

import json
import string

import numpy as np
import pytest

from minirag.algorithms.late_interaction import maxsim
from minirag.core.errors import MiniragError
from minirag.core.trace import ChunkStep, NodeStep
from minirag.encoders.presets import BGE_INSTRUCTION, PRESETS
from minirag.encoders.text_encoders import PresetEncoder, load_encoder
from minirag.encoders.token_encoders import ColBERTTokens, load_token_encoder
from minirag.methods import METHODS, HippoRAG

from .small import corpus_of, extraction_of

TEXTS = [
    "Selm is the oldest port of Veldania.",
    "A comet.",
    "Who founded the observatory, and when was it sold to the university?",
]
ARCHITECTURE = {"gtr-t5-base": "t5", "bge-m3": "xlm-roberta", "all-roberta-large-v1": "roberta"}
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] [unused0] [unused1]".split()


def tiny_tokenizer():
    """Every word a token: enough to see prefixes, padding and cuts."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    spelled = " ".join([*TEXTS, BGE_INSTRUCTION, "query passage"]).lower()
    for sign in string.punctuation:
        spelled = spelled.replace(sign, f" {sign} ")
    vocabulary = {
        word: i
        for i, word in enumerate(dict.fromkeys([*WORDS, *string.punctuation, *spelled.split()]))
    }
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.normalizer, inner.pre_tokenizer = (
        normalizers.Lowercase(),
        pre_tokenizers.BertPreTokenizer(),
    )
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    return PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=64, **names)


def tiny_model(kind, words):
    import torch
    import transformers

    torch.manual_seed(7)
    shape = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    if kind == "t5":
        sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}
        return transformers.T5EncoderModel(
            transformers.T5Config(vocab_size=words, pad_token_id=0, **sizes)
        ).eval()
    name = {"bert": "Bert", "roberta": "Roberta", "xlm-roberta": "XLMRoberta"}[kind]
    config = getattr(transformers, f"{name}Config")(
        vocab_size=words, max_position_embeddings=80, pad_token_id=0, **shape
    )
    return getattr(transformers, f"{name}Model")(config, add_pooling_layer=False).eval()


def write_model(folder, name, plain=False):
    """A tiny model with the files that the preset's real one has; `plain` leaves out those that say
    how to pool.
    """
    import torch
    from sentence_transformers import SentenceTransformer, models

    preset = PRESETS[name]
    tokenizer = tiny_tokenizer()
    model = tiny_model(ARCHITECTURE.get(name, "bert"), len(tokenizer))
    model.save_pretrained(folder / "bare")
    tokenizer.save_pretrained(folder / "bare")
    if plain or name in ("contriever", "mcontriever"):  # published without such files
        return folder / "bare"
    parts = [
        models.Transformer(str(folder / "bare"), max_seq_length=64),
        models.Pooling(16, pooling_mode=preset.pooling),
    ]
    if preset.head != "none":
        torch.manual_seed(3)
        parts.append(
            models.Dense(
                16,
                16,
                bias=preset.head == "tanh",
                activation_function=torch.nn.Tanh()
                if preset.head == "tanh"
                else torch.nn.Identity(),
            )
        )
    SentenceTransformer(modules=[*parts, models.Normalize()], device="cpu").save(
        str(folder / "whole")
    )
    return folder / "whole"


def by_hand(folder, name, texts, kind):
    """Prefix, hidden states, pooling, head, length 1, one text after another."""
    import torch
    from sentence_transformers import SentenceTransformer

    preset, tokenizer = PRESETS[name], tiny_tokenizer()
    model, rows = tiny_model(ARCHITECTURE.get(name, "bert"), len(tokenizer)), []
    head = None
    if preset.head != "none":
        head = {
            key: value.detach().numpy()
            for key, value in SentenceTransformer(str(folder), device="cpu")[
                2
            ].linear.named_parameters()
        }
    for text in texts:
        ids = torch.tensor(
            [
                tokenizer({"query": preset.query, "passage": preset.passage}[kind] + text)[
                    "input_ids"
                ]
            ]
        )
        with torch.inference_mode():
            states = (
                model(input_ids=ids, attention_mask=torch.ones_like(ids))
                .last_hidden_state[0]
                .numpy()
            )
        row = states[0] if preset.pooling == "cls" else states.mean(axis=0)
        if head:
            row = head["weight"] @ row + head.get("bias", 0)
        row = np.tanh(row) if preset.head == "tanh" else row
        rows.append(row / np.linalg.norm(row))
    return np.array(rows)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_what_a_hand_computation_gives(name, cache):
    folder = write_model(cache, name)
    encoder = PresetEncoder(name, PRESETS[name], lambda: folder)
    for kind in ("query", "passage"):
        assert encoder.encode(TEXTS, kind=kind) == pytest.approx(
            by_hand(folder, name, TEXTS, kind), abs=1e-5
        ), kind
    asymmetric = not np.allclose(encoder.encode(TEXTS, kind="query"), encoder.encode(TEXTS))
    assert asymmetric == (name in ("e5-base", "e5-base-v2", "bge-large-en-v1.5"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_another_pooling_would_be_seen(cache):
    """The tiny models tell the mean from the first token, so the test above can fail."""
    folder = write_model(cache, "contriever")
    vectors = PresetEncoder("contriever", PRESETS["contriever"], lambda: folder).encode(TEXTS)
    assert not np.allclose(vectors, by_hand(folder, "bge-m3", TEXTS, "passage"), atol=1e-2)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_files_that_say_otherwise_are_refused(cache):
    folder = write_model(cache, "minilm-l12")
    with pytest.raises(
        MiniragError,
        match="say pooling 'mean' and head 'none'.*BAAI/bge-large-en-v1.5 has pooling 'cls'",
    ):
        PresetEncoder("bge-large-en-v1.5", PRESETS["bge-large-en-v1.5"], lambda: folder).encode(
            TEXTS
        )
    with pytest.raises(MiniragError, match="layer after pooling"):
        PresetEncoder(
            "labse", PRESETS["labse"], lambda: write_model(cache / "b", "labse", plain=True)
        ).encode(TEXTS)
    settings = folder / "1_Pooling" / "config.json"
    settings.write_text(
        json.dumps(
            {
                "word_embedding_dimension": 16,
                "pooling_mode_cls_token": True,
                "pooling_mode_mean_tokens": False,
            }
        )
    )
    with pytest.raises(MiniragError, match="say pooling 'cls'"):
        PresetEncoder("minilm-l12", PRESETS["minilm-l12"], lambda: folder).encode(TEXTS)


def test_offline_a_name_loads_nothing_and_encoding_says_what_is_missing(cache, monkeypatch):
    monkeypatch.setattr("minirag.core.files._cached_folder", lambda name: None)
    for name, preset in PRESETS.items():
        encoder = load_encoder(name)
        assert encoder.name == name
        with pytest.raises(MiniragError, match=f"{preset.model} is not on this machine"):
            encoder.encode(TEXTS)
    with pytest.raises(MiniragError, match="colbert-ir/colbertv2.0 is not on this machine"):
        load_token_encoder("colbertv2").encode(TEXTS)
    with pytest.raises(MiniragError, match="one vector a token.*'hipporag'"):
        load_encoder("colbertv2")
    with pytest.raises(MiniragError, match="'contriever'"):
        load_encoder("contreiver")


# ColBERTv2


@pytest.fixture
def colbert(cache):
    """A tiny BERT with a linear layer, its weights named as in the published checkpoint."""
    import torch
    from safetensors.torch import save_file

    tokenizer = tiny_tokenizer()
    model = tiny_model("bert", len(tokenizer))
    folder = cache / "colbert"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(5)
    head = torch.randn(8, 16)
    save_file(
        {
            **{f"bert.{key}": value.contiguous() for key, value in model.state_dict().items()},
            "linear.weight": head,
        },
        folder / "model.safetensors",
    )
    return folder, model, tokenizer, head


def test_colbert_tokens_by_hand(colbert):
    import torch

    folder, model, tokenizer, head = colbert
    encoder = ColBERTTokens(f"colbert:{folder}")
    question, passage = "Who founded the observatory, and when?", TEXTS[0]

    words = tokenizer(question, add_special_tokens=False)["input_ids"]
    ids = [2, 5, *words, 3] + [4] * (29 - len(words))
    attended = [1] * (len(words) + 3) + [0] * (29 - len(words))
    with torch.inference_mode():
        states = (
            model(
                input_ids=torch.tensor([ids]), attention_mask=torch.tensor([attended])
            ).last_hidden_state[0]
            @ head.T
        )
    wanted = torch.nn.functional.normalize(states, dim=1).numpy()
    found = encoder.encode([question], kind="query")[0]
    assert found.shape == (32, 8) and found == pytest.approx(wanted, abs=1e-5)
    assert (
        encoder.tokens(question, kind="query")[:4] == ["[CLS]", "[unused0]", "who", "founded"]
        and encoder.tokens(question, "query")[-1] == "[MASK]"
    )

    words = tokenizer(passage, add_special_tokens=False)["input_ids"]
    ids = [2, 6, *words, 3]
    with torch.inference_mode():
        states = (
            model(
                input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids))
            ).last_hidden_state[0]
            @ head.T
        )
    wanted = torch.nn.functional.normalize(states, dim=1).numpy()
    point = len(ids) - 2  # the full stop is read by the model and dropped afterwards
    assert encoder.encode([passage])[0] == pytest.approx(np.delete(wanted, point, axis=0), abs=1e-5)
    assert encoder.tokens(passage) == [
        "[CLS]",
        "[unused1]",
        *passage.lower().rstrip(".").split(),
        "[SEP]",
    ]


def test_hipporag_links_names_and_ranks_nameless_questions_by_colbert(colbert):
    """HippoRAG (ColBERTv2) of Wang, Table IV, with a tiny model in ColBERTv2's place."""
    corpus = corpus_of(("p1", TEXTS[0]), ("p2", TEXTS[1]))
    names = [tuple(text.split()[:2]) for text in TEXTS[:2]]
    triples = extraction_of({"p1": [(*names[0], names[1][0])], "p2": [(*names[1], names[0][0])]})
    encoder, asked = f"colbert:{colbert[0]}", {"by name": (names[0][0],), "nameless": ()}
    method = HippoRAG.build(corpus, encoder=encoder, extraction=triples, question_entities=asked)
    ((_, place, score),) = method.retrieve("by name").trace.last(NodeStep).nodes
    tokens = ColBERTTokens(encoder)
    query, own = (
        tokens.encode([names[0][0].lower()], kind="query")[0],
        tokens.encode([names[0][0].lower()])[0],
    )
    found = [maxsim(query, rows) for rows in tokens.encode([n.name for n in method.graph.nodes])]
    assert place == int(np.argmax(found)) and score == pytest.approx(
        max(found) / maxsim(query, own), abs=1e-5
    )
    dense = method.retrieve("nameless").trace.last(ChunkStep).scores
    alone = METHODS["colbert"].build(corpus, encoder=encoder)
    by_method = alone.retrieve("nameless").trace.last(ChunkStep).scores
    assert dense / dense.max() == pytest.approx(by_method / by_method.max(), abs=1e-5)


def test_long_texts_are_cut_and_other_models_refused(colbert):
    folder, model, _tokenizer, _ = colbert
    encoder = ColBERTTokens(f"colbert:{folder}")
    assert (
        len(encoder.tokens("port " * 50, kind="query"))
        == 32
        == len(encoder.encode(["port " * 50], kind="query")[0])
    )
    model.save_pretrained(folder)
    with pytest.raises(MiniragError, match="not a ColBERT model"):
        ColBERTTokens(f"colbert:{folder}").encode(TEXTS)
