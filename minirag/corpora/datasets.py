"""Published benchmarks as corpora: passages, questions with gold passages, and the OpenIE that
HippoRAG's authors published.
"""

import csv
import json
import warnings
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.corpus import Chunk, Corpus, Document, Extraction, Question, Triple
from ..core.errors import MiniragError
from .fetching import DATASETS, fetch, find_dataset

Row = dict[str, Any]  # of a published file
Places = defaultdict[str, list[str]]  # title or passage -> ids of its chunks
OPENIE = "gpt-3.5-turbo-1106"
OPENIE_SOURCE = "GPT-3.5-turbo-1106, published by the HippoRAG authors"


def load_dataset(name: str, folder: str | Path | None = None) -> Corpus:
    """A multi-hop benchmark of HippoRAG's release as a Corpus, fetched first if it is not there.

    name: 'musique_train' (100 questions, 1,890 passages), 'musique', '2wikimultihopqa' or
    'hotpotqa'. One passage is one document and one chunk; its id is the dataset's name and its
    position in the corpus file, counted from 0. Gold passages are found as the authors do: by title
    and text in MuSiQue, by title in the other two.
    """
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


def load_question_entities(
    name: str, folder: str | Path | None = None
) -> dict[str, tuple[str, ...]]:
    """The named entities that GPT-3.5 found in each question: {question text: (entity, ...)}.
    Published for the full-size sets only.
    """
    dataset = find_dataset(name)
    file = dataset.file("question_entities")
    if file is None:
        known = ", ".join(each.name for each in DATASETS.values() if each.file("question_entities"))
        raise MiniragError(
            f"No question entities were published for {dataset.name!r}; "
            f"there are some for: {known}."
        )
    with (fetch(dataset, folder) / file.name).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    # The published files head their first column in three ways.
    texts = [str(row.get("question") or row.get("0") or row.get("query")) for row in rows]
    return {text: _named_entities(row.get("triples")) for text, row in zip(texts, rows)}


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
        questions.append(Question(id, row["question"], answers, gold, _kind(row), _chain(row)))
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


def _kind(row: Row) -> str:
    """MuSiQue writes the shape of the reasoning before the id ('2hop__', '3hop1__'); the other two
    have a field.
    """
    return row.get("type") or str(row.get("id", "")).partition("__")[0]


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


def _named_entities(cell: str | None) -> tuple[str, ...]:
    """The cell holds a JSON object {"named_entities": [...]}; anything else counts as no entity
    found.
    """
    try:
        found = json.loads(cell or "{}")
    except json.JSONDecodeError:
        return ()
    names = found.get("named_entities") if isinstance(found, dict) else None
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
