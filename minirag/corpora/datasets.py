"""Published benchmarks: where they lie, and as corpora their passages, questions with gold
passages, and the OpenIE that HippoRAG's authors published.

To add one, declare repository, commit, licence and files in `data/datasets.yaml`: `fetching`
downloads it, and where its files have the form of HippoRAG's, `load_dataset` reads it.
"""

import json
import os
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..core.corpus import Chunk, Corpus, Document, Extraction, Question, Triple
from ..core.errors import MiniragError
from .shipped_and_folders import shipped

Row = dict[str, Any]  # of a published file
Places = defaultdict[str, list[str]]  # title or passage -> ids of its chunks
OPENIE = "gpt-3.5-turbo-1106"
OPENIE_SOURCE = "GPT-3.5-turbo-1106, published by the HippoRAG authors"
RAW_URL = "https://raw.githubusercontent.com/{repo}/{commit}/{path}"


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset. `role` is what it is read as, `blob` its Git blob id, `bytes` its size
    where that was measured.
    """

    role: str
    path: str
    blob: str
    bytes: int | None = None

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Dataset:
    """A published dataset: where it lies, at which commit, under which licence, and its files."""

    name: str
    title: str
    repo: str
    commit: str
    licence: str
    files: tuple[DataFile, ...]

    def file(self, role: str) -> DataFile | None:
        """The file with this role, or None."""
        return next((file for file in self.files if file.role == role), None)

    def __getitem__(self, role: str) -> DataFile:
        """The file with this role, which is there."""
        return next(file for file in self.files if file.role == role)

    def address(self, file: DataFile, template: str | None = None) -> str:
        """Where `file` is downloaded from. `MINIRAG_RAW_URL`, or `template`, may name a mirror with
        the same {repo}, {commit}, {path}.
        """
        template = template or os.environ.get("MINIRAG_RAW_URL") or RAW_URL
        fields = {"repo": self.repo, "commit": self.commit, "path": quote(file.path)}
        for field, value in fields.items():
            template = template.replace(f"{{{field}}}", value)
        return template


def read_declarations(path: str | Path) -> dict[str, Dataset]:
    """Read declarations in the form of `data/datasets.yaml`: {name: Dataset}."""
    import yaml

    declared = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    for fields in declared.values():
        fields["files"] = tuple(DataFile(**file) for file in fields["files"])
    return {name: Dataset(name, **fields) for name, fields in declared.items()}


DATASETS = read_declarations(shipped("datasets.yaml"))


def find_dataset(name: str | Dataset) -> Dataset:
    """The declaration of a dataset, or an error that lists the names."""
    if isinstance(name, Dataset):
        return name
    if name not in DATASETS:
        raise MiniragError(f"There is no dataset {name!r}; there are: {', '.join(DATASETS)}.")
    return DATASETS[name]


def load_dataset(name: str, folder: str | Path | None = None) -> Corpus:
    """A multi-hop benchmark of HippoRAG's release as a Corpus, fetched first if it is not there.

    name: 'musique_train' (100 questions, 1,890 passages), 'musique', '2wikimultihopqa' or
    'hotpotqa'. One passage is one document and one chunk; its id is the dataset's name and its
    position in the corpus file, counted from 0. Gold passages are found as the authors do: by title
    and text in MuSiQue, by title in the other two.
    """
    from .fetching import fetch  # which stands on this file

    dataset = find_dataset(name)
    if not dataset.file("openie"):
        known = ", ".join(each.name for each in DATASETS.values() if each.file("openie"))
        raise MiniragError(
            f"{dataset.name!r} is not a corpus with questions; load_dataset reads: {known}."
        )
    path = fetch(dataset, folder)
    documents = _documents(dataset.name, _read_json(path / dataset["corpus"].name))
    chunks = tuple(Chunk(d.id, d.text, d.title, d.id, 0, len(d.text)) for d in documents)
    questions = _questions(dataset.name, _read_json(path / dataset["questions"].name), chunks)
    extraction, _ = read_openie(path / dataset["openie"].name, chunks)
    return Corpus(dataset.name, documents, chunks, questions, {OPENIE: extraction})


def read_openie(path: str | Path, chunks: Sequence[Chunk]) -> tuple[Extraction, dict[str, int]]:
    """Read a HippoRAG OpenIE file into an Extraction over `chunks`, matched by passage string
    (title, newline, text).

    Returns the extraction and counts: 'triples' kept, 'ill_formed' (not three strings; dropped),
    'unmatched' passages.
    """
    path = Path(path)
    by_passage = {_squeeze(chunk.passage): chunk.id for chunk in chunks}
    entities: dict[str, tuple[str, ...]] = {}
    triples: dict[str, tuple[Triple, ...]] = {}
    counts = {"triples": 0, "ill_formed": 0, "unmatched": 0}
    for row in _read_json(path)["docs"]:
        chunk_id = by_passage.get(_squeeze(row["passage"]))
        if chunk_id is None:
            counts["unmatched"] += 1
            continue
        stated, named = row.get("extracted_triples") or [], row.get("extracted_entities") or []
        entities[chunk_id] = tuple(entity for entity in named if isinstance(entity, str))
        triples[chunk_id] = tuple(Triple(*parts) for parts in stated if _is_triple(parts))
        counts["triples"] += len(triples[chunk_id])
        counts["ill_formed"] += len(stated) - len(triples[chunk_id])
    if counts["unmatched"]:
        warnings.warn(
            f"{path.name}: {counts['unmatched']} passages are not in the corpus, "
            "so their triples were left out.",
            stacklevel=3,
        )
    return Extraction(OPENIE_SOURCE, entities, triples), counts


def _is_triple(parts: object) -> bool:
    if not isinstance(parts, list) or len(parts) != 3:
        return False
    return all(isinstance(part, str) for part in parts)


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _squeeze(passage: str) -> str:
    """White space alone never tells two passages apart: HotpotQA's sentences are joined with and
    without it.
    """
    return " ".join(passage.split())


def _documents(name: str, rows: Any) -> tuple[Document, ...]:
    """MuSiQue and 2Wiki: [{title, text}]. HotpotQA: {title: [sentence, ...]}, each sentence with
    its own leading space.
    """
    if isinstance(rows, dict):
        pairs = [(title, "".join(sentences)) for title, sentences in rows.items()]
    else:
        pairs = [(row["title"], row["text"]) for row in rows]
    width = max(4, len(str(len(pairs))))
    return tuple(
        Document(f"{name}/{i:0{width}d}", text, title) for i, (title, text) in enumerate(pairs)
    )


def _questions(name: str, rows: Sequence[Row], chunks: Sequence[Chunk]) -> tuple[Question, ...]:
    by_title: Places = defaultdict(list)
    by_passage: Places = defaultdict(list)
    for chunk in chunks:
        by_title[chunk.title].append(chunk.id)
        by_passage[chunk.passage].append(chunk.id)
    questions, lost = [], 0
    for row in rows:
        places = by_title if "supporting_facts" in row else by_passage
        wanted = dict.fromkeys(_gold_keys(row))
        lost += sum(key not in places for key in wanted)
        gold = tuple(chunk_id for key in wanted for chunk_id in places.get(key, ()))
        answers = tuple(dict.fromkeys([row["answer"], *row.get("answer_aliases", [])]))
        id = str(row.get("id") or row["_id"])
        # MuSiQue writes the shape of the reasoning before the id ('2hop__', '3hop1__').
        kind = row.get("type") or id.partition("__")[0]
        questions.append(Question(id, row["question"], answers, gold, kind, _chain(row)))
    if lost:
        warnings.warn(
            f"{name}: {lost} gold passages are not in the corpus; "
            "recall is measured over the others.",
            stacklevel=3,
        )
    return tuple(questions)


def _gold_keys(row: Row) -> list[str]:
    """The titles of a question's gold passages, or the passages themselves where it has them."""
    if "supporting_facts" in row:
        return [title for title, _ in row["supporting_facts"]]
    paragraphs = row["paragraphs"]
    if isinstance(paragraphs, str):
        paragraphs = json.loads(paragraphs)
    gold = [paragraph for paragraph in paragraphs if paragraph["is_supporting"]]
    texts = [(p["title"], p.get("text", p.get("paragraph_text"))) for p in gold]
    return [f"{title}\n{text}" if title else text for title, text in texts]


def _chain(row: Row) -> tuple[str, ...]:
    """The annotated steps: MuSiQue's sub-questions with their answers filled in, 2Wiki's evidence
    triples, nothing for HotpotQA.
    """
    steps = []
    for step in row.get("question_decomposition") or []:
        text = step["question"]
        for number, earlier in enumerate(row["question_decomposition"], start=1):
            text = text.replace(f"#{number}", earlier["answer"])
        steps.append(f"{text} -> {step['answer']}")
    return tuple(steps) or tuple(
        " ".join(map(str, triple)) for triple in row.get("evidences") or []
    )
