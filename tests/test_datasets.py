"""Fetching against a real server on this machine, the loaders on small files of the published
shapes, and the real data where it is.
"""

import hashlib
import json
import subprocess
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from minirag.core.corpus import Triple
from minirag.core.errors import MiniragError
from minirag.corpora import fetching
from minirag.corpora.datasets import DATASETS, DataFile, Dataset, load_dataset, read_openie
from minirag.corpora.fetching import available, data_folder, fetch, git_blob_id

CONTENT = bytes(range(256)) * 2000


def blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `content` at every path; `ranges`, `cuts` and `status` say how well. `seen` holds
    (path, Range header) of every request.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.ranges, self.cuts, self.status, self.shift, self.seen = (
            CONTENT,
            True,
            0,
            200,
            0,
            [],
        )
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def template(self):
        return f"http://127.0.0.1:{self.server_port}/{{repo}}/{{commit}}/{{path}}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.seen.append((self.path, wanted))
        if server.status != 200:
            self.send_error(server.status)
            return
        start = (
            int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.ranges else 0
        )
        if start >= len(server.content):
            self.send_error(416)
            return
        start = max(0, start - server.shift)
        body = server.content[start:]
        self.send_response(206 if wanted and server.ranges else 200)
        if wanted and server.ranges:
            self.send_header(
                "Content-Range", f"bytes {start}-{len(server.content) - 1}/{len(server.content)}"
            )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if server.cuts:
            server.cuts -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with Server() as running:
        yield running
        running.shutdown()


@pytest.fixture
def dataset(monkeypatch):
    monkeypatch.setattr(fetching, "PAUSE", 0)
    one = Dataset(
        "tiny",
        "a tiny set",
        "owner/repo",
        "c0ffee",
        "none",
        (DataFile("text", "docs/a file.bin", blob(CONTENT), len(CONTENT)),),
    )
    monkeypatch.setitem(DATASETS, "tiny", one)
    return one


def test_download_verify_and_never_again(server, dataset, tmp_path):
    assert not available("tiny", tmp_path)
    folder = fetch("tiny", tmp_path, address=server.template)
    assert folder == tmp_path / "tiny" and [p.name for p in folder.iterdir()] == ["a file.bin"]
    assert (folder / "a file.bin").read_bytes() == CONTENT
    assert server.seen == [("/owner/repo/c0ffee/docs/a%20file.bin", None)]
    assert (
        fetch("tiny", tmp_path, address=server.template) == folder
        and len(server.seen) == 1
        and available("tiny", tmp_path)
    )


def test_the_environment_names_the_mirror_and_the_folder(server, dataset, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_RAW_URL", server.template)
    monkeypatch.setenv("MINIRAG_DATA", str(tmp_path))
    assert (
        data_folder() == tmp_path and fetch("tiny") == tmp_path / "tiny" and len(server.seen) == 1
    )


def test_files_that_are_there_need_no_network(dataset, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_DATA", str(tmp_path))
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "a file.bin").write_bytes(CONTENT)
    monkeypatch.setattr(httpx, "Client", None)
    assert fetch("tiny") == tmp_path / "tiny"


def part_of(tmp_path, content):
    part = tmp_path / "tiny" / "a file.bin.part"
    part.parent.mkdir()
    part.write_bytes(content)
    return part


@pytest.mark.parametrize("ranges", [True, False], ids=["server with ranges", "server without"])
def test_an_interrupted_download_goes_on(server, dataset, tmp_path, ranges):
    server.ranges = ranges
    part = part_of(tmp_path, CONTENT[:1000])
    assert (fetch("tiny", tmp_path, address=server.template) / "a file.bin").read_bytes() == CONTENT
    assert [wanted for _, wanted in server.seen] == ["bytes=1000-"] and not part.exists()


def test_a_complete_part_is_only_verified(server, dataset, tmp_path):
    part_of(tmp_path, CONTENT)
    assert (fetch("tiny", tmp_path, address=server.template) / "a file.bin").read_bytes() == CONTENT
    assert [wanted for _, wanted in server.seen] == [f"bytes={len(CONTENT)}-"]


@pytest.mark.parametrize("stale", [b"other bytes", CONTENT + b"more", CONTENT[:-1] + b"?"])
def test_a_stale_part_is_thrown_away_and_fetched_anew(server, dataset, tmp_path, stale):
    part_of(tmp_path, stale)
    assert (fetch("tiny", tmp_path, address=server.template) / "a file.bin").read_bytes() == CONTENT
    assert [wanted for _, wanted in server.seen] == [f"bytes={len(stale)}-", None]


def test_a_server_that_sends_another_range_is_asked_again_from_the_start(server, dataset, tmp_path):
    server.shift = 10
    part_of(tmp_path, CONTENT[:1000])
    assert (fetch("tiny", tmp_path, address=server.template) / "a file.bin").read_bytes() == CONTENT


def test_a_connection_cut_half_way_is_resumed(server, dataset, tmp_path):
    server.cuts = 1
    assert (fetch("tiny", tmp_path, address=server.template) / "a file.bin").read_bytes() == CONTENT
    assert [wanted for _, wanted in server.seen] == [None, f"bytes={len(CONTENT) // 2}-"]


def test_a_connection_cut_again_and_again_keeps_the_part_for_the_next_run(
    server, dataset, tmp_path
):
    server.cuts = 3
    with pytest.raises(MiniragError, match=r"could not be downloaded.* 448,000 bytes are kept"):
        fetch("tiny", tmp_path, address=server.template)
    assert not (tmp_path / "tiny" / "a file.bin").exists()
    assert (fetch("tiny", tmp_path, address=server.template) / "a file.bin").read_bytes() == CONTENT
    assert server.seen[-1][1] == "bytes=448000-"


@pytest.mark.parametrize("content", [b"<html>not found</html>", CONTENT[:-1]])
def test_wrong_bytes_are_refused_and_removed(server, dataset, tmp_path, content):
    server.content = content
    with pytest.raises(MiniragError) as caught:
        fetch("tiny", tmp_path, address=server.template)
    assert (
        blob(CONTENT) in str(caught.value)
        and blob(content) in str(caught.value)
        and server.template.split("{")[0] in str(caught.value)
    )
    assert list((tmp_path / "tiny").iterdir()) == []


def test_a_wrong_file_of_the_user_is_refused_and_left(server, dataset, tmp_path):
    (tmp_path / "tiny").mkdir()
    mine = tmp_path / "tiny" / "a file.bin"
    mine.write_bytes(b"mine")
    with pytest.raises(
        MiniragError, match=f"expected Git blob id {blob(CONTENT)}, found {blob(b'mine')}"
    ):
        fetch("tiny", tmp_path, address=server.template)
    assert mine.read_bytes() == b"mine" and not server.seen


@pytest.mark.parametrize("status, requests", [(404, 1), (403, 1), (503, 3)])
def test_a_refusing_server_is_named(server, dataset, tmp_path, status, requests):
    server.status = status
    with pytest.raises(MiniragError, match=f"the server answered {status}"):
        fetch("tiny", tmp_path, address=server.template)
    assert len(server.seen) == requests and list((tmp_path / "tiny").iterdir()) == []


def test_offline_says_the_address_and_where_to_put_the_file(dataset, tmp_path):
    with pytest.raises(MiniragError) as caught:
        fetch("tiny", tmp_path, address="http://127.0.0.1:9/{repo}/{path}")
    assert "http://127.0.0.1:9/owner/repo/docs/a%20file.bin" in str(caught.value)
    assert str(tmp_path / "tiny" / "a file.bin") in str(caught.value)


def test_a_folder_that_cannot_be_written(dataset, tmp_path):
    (tmp_path / "tiny").write_text("a file stands where the folder should be")
    with pytest.raises(MiniragError, match="cannot be written"):
        fetch("tiny", tmp_path, address="http://127.0.0.1:9/{path}")


def test_git_agrees_on_blob_ids(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(CONTENT)
    assert git_blob_id(path) == blob(CONTENT)
    try:
        said = subprocess.run(
            ["git", "hash-object", "--no-filters", str(path)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except OSError:
        pytest.skip("git is not installed")
    assert git_blob_id(path) == said


def test_declarations_are_pinned():
    assert set(DATASETS) == {
        "musique_train",
        "musique",
        "2wikimultihopqa",
        "hotpotqa",
        "dulce",
        "expla_graphs",
    }
    for dataset in DATASETS.values():
        assert len(dataset.commit) == 40 and dataset.licence and dataset.files
        assert len({file.name for file in dataset.files}) == len(dataset.files)
        for file in dataset.files:
            assert len(file.blob) == 40 and dataset.address(file).startswith(
                f"https://raw.githubusercontent.com/{dataset.repo}/{dataset.commit}/"
            )
    dulce = DATASETS["dulce"]
    assert dulce.address(dulce.file("text")).endswith(
        "/docs/data/operation_dulce/Operation%20Dulce%20v2%201%201.md"
    )


@pytest.mark.parametrize("call", [fetch, load_dataset, available])
def test_unknown_names_list_the_others(call):
    with pytest.raises(MiniragError, match="no dataset 'squad'; there are: musique_train"):
        call("squad")


def test_a_dataset_that_is_no_corpus_says_so():
    with pytest.raises(
        MiniragError,
        match="'dulce' is not a corpus with questions; load_dataset reads: musique_train",
    ):
        load_dataset("dulce")


def put(tmp_path, monkeypatch, name, **contents):
    """Lay small files down under the names that `name` declares, and declare their blob ids."""
    dataset, files = DATASETS[name], []
    (tmp_path / name).mkdir()
    for file in dataset.files:
        content = contents[file.role]
        data = (content if isinstance(content, str) else json.dumps(content)).encode("utf-8")
        (tmp_path / name / file.name).write_bytes(data)
        files.append(DataFile(file.role, file.path, blob(data)))
    monkeypatch.setitem(
        DATASETS,
        name,
        Dataset(name, dataset.title, dataset.repo, dataset.commit, dataset.licence, tuple(files)),
    )
    monkeypatch.setenv("MINIRAG_DATA", str(tmp_path))


def openie(*rows):
    return {
        "docs": [
            {"passage": passage, "extracted_entities": entities, "extracted_triples": triples}
            for passage, entities, triples in rows
        ]
    }


CORPUS = [
    {"title": "A", "text": "One."},
    {"title": "A", "text": "Two."},
    {"title": "B", "text": "Three."},
]


@pytest.mark.parametrize(
    "as_text", [False, True], ids=["paragraphs as a list", "paragraphs as JSON text"]
)
@pytest.mark.parametrize("key", ["text", "paragraph_text"])
def test_musique_shape(tmp_path, monkeypatch, as_text, key):
    paragraphs = [
        {"title": "A", key: "Two.", "is_supporting": True},
        {"title": "A", key: "One.", "is_supporting": False},
        {"title": "B", key: "Three.", "is_supporting": True},
    ]
    steps = [{"question": "Who is A?", "answer": "X"}, {"question": "#1 >> home", "answer": "Y"}]
    question = {
        "id": "3hop2__1_2_3",
        "question": "Who is A?",
        "answer": "Y",
        "answer_aliases": ["Why", "Y"],
        "question_decomposition": steps,
        "paragraphs": json.dumps(paragraphs) if as_text else paragraphs,
    }
    stated = openie(
        (
            "B\nThree.",
            ["B", 3, None],
            [["B", "is", "three"], ["B", "is"], ["B", 1, "x"], "B", None],
        ),
        ("A\nOne.", [], []),
        ("A\nTwo.", ["A"], [["A", "is", "two"]]),
    )
    put(tmp_path, monkeypatch, "musique", questions=[question], corpus=CORPUS, openie=stated)
    corpus = load_dataset("musique")
    assert [c.id for c in corpus.chunks] == ["musique/0000", "musique/0001", "musique/0002"]
    (q,) = corpus.questions
    assert (q.id, q.gold, q.answers, q.kind, q.chain) == (
        "3hop2__1_2_3",
        ("musique/0001", "musique/0002"),
        ("Y", "Why"),
        "3hop2",
        ("Who is A? -> X", "X >> home -> Y"),
    )
    extraction = corpus.extractions["gpt-3.5-turbo-1106"]
    assert extraction.entities == {
        "musique/0000": (),
        "musique/0001": ("A",),
        "musique/0002": ("B",),
    }
    assert extraction.triples["musique/0002"] == (
        Triple("B", "is", "three"),
    ) and extraction.triples["musique/0001"] == (Triple("A", "is", "two"),)
    path = tmp_path / "musique" / DATASETS["musique"].file("openie").name
    assert read_openie(path, corpus.chunks)[1] == {"triples": 2, "ill_formed": 4, "unmatched": 0}


def test_2wiki_shape(tmp_path, monkeypatch):
    question = {
        "_id": "w1",
        "type": "comparison",
        "question": "Who?",
        "answer": "yes",
        "supporting_facts": [["B", 0], ["B", 2], ["A", 1]],
        "evidences": [["B", "born", "1900"]],
    }
    put(
        tmp_path,
        monkeypatch,
        "2wikimultihopqa",
        questions=[question],
        corpus=CORPUS,
        openie=openie(),
    )
    (q,) = load_dataset("2wikimultihopqa").questions
    assert (q.id, q.kind, q.answers, q.chain) == ("w1", "comparison", ("yes",), ("B born 1900",))
    assert q.gold == ("2wikimultihopqa/0002", "2wikimultihopqa/0000", "2wikimultihopqa/0001"), (
        "every passage with a gold title"
    )


def test_hotpotqa_shape(tmp_path, monkeypatch):
    corpus = {"A": ["One.", " Two."], "B": ["Three."]}
    question = {
        "_id": "h1",
        "type": "bridge",
        "level": "hard",
        "question": "Who?",
        "answer": "Three",
        "supporting_facts": [["A", 0], ["B", 0]],
    }
    stated = openie(
        ("A\nOne. Two.", ["A"], [["A", "has", "two"]]),
        ("B\n\nThree. ", [], [["B", "has", "three"]]),
    )
    put(tmp_path, monkeypatch, "hotpotqa", questions=[question], corpus=corpus, openie=stated)
    loaded = load_dataset("hotpotqa")
    assert [c.passage for c in loaded.chunks] == ["A\nOne. Two.", "B\nThree."]
    assert (
        loaded.questions[0].gold == ("hotpotqa/0000", "hotpotqa/0001")
        and loaded.questions[0].kind == "bridge"
    )
    assert set(loaded.extractions["gpt-3.5-turbo-1106"].triples) == {
        "hotpotqa/0000",
        "hotpotqa/0001",
    }


def test_what_does_not_match_is_told(tmp_path, monkeypatch):
    question = {
        "_id": "w1",
        "type": "bridge",
        "question": "Who?",
        "answer": "yes",
        "supporting_facts": [["A", 0], ["Nowhere", 0]],
    }
    put(
        tmp_path,
        monkeypatch,
        "2wikimultihopqa",
        questions=[question],
        corpus=CORPUS,
        openie=openie(("Z\nz", [], [])),
    )
    with pytest.warns(UserWarning) as caught:
        load_dataset("2wikimultihopqa")
    assert ["1 gold passages are not in the corpus" in str(w.message) for w in caught] == [
        True,
        False,
    ] and caught[0].filename == __file__
    assert (
        "1 passages are not in the corpus, so their triples were left out" in str(caught[1].message)
        and caught[1].filename == __file__
    )


@pytest.mark.needs("musique_train")
def test_the_real_training_set():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corpus = load_dataset("musique_train")
    assert (len(corpus.documents), len(corpus.chunks), len(corpus.questions)) == (1890, 1890, 100)
    ids = {chunk.id for chunk in corpus.chunks}
    assert len(ids) == 1890 and sum(len(q.gold) for q in corpus.questions) == 237
    assert all(
        q.gold and set(q.gold) <= ids and q.answers and len(q.chain) == int(q.kind[0])
        for q in corpus.questions
    )
    extraction = corpus.extractions["gpt-3.5-turbo-1106"]
    assert (
        set(extraction.entities) == set(extraction.triples) == ids
        and "published by the HippoRAG authors" in extraction.source
    )
    path = fetch("musique_train") / DATASETS["musique_train"].file("openie").name
    assert read_openie(path, corpus.chunks)[1] == {
        "triples": 17234,
        "ill_formed": 185,
        "unmatched": 0,
    }


@pytest.mark.needs("musique_train", "dulce", "expla_graphs")
@pytest.mark.parametrize("name", ["musique_train", "dulce", "expla_graphs"])
def test_the_real_files_are_the_declared_ones(name):
    folder = fetch(name)
    for file in DATASETS[name].files:
        assert (folder / file.name).stat().st_size == file.bytes
