"""Where the kit's own data lies, and the corpora that it ships."""

from collections import Counter
from pathlib import Path

from minirag.core.corpus import Chunk, Corpus, Document, Extraction, Question, Triple
from minirag.core.errors import MiniragError
from minirag.core.files import read_jsonl

ANNOTATIONS = "hand-written annotations"


def shipped(path=""):
    """The path of a file or folder of the kit's `data/`: inside the installed package, else beside
    it in a checkout.
    """
    package = Path(__file__).parents[1]
    for data in (package / "data", package.parent / "data"):
        if (data / path).exists():
            return data / path
    raise MiniragError(
        f"The kit's data file {str(path)!r} is missing from this installation. Install minirag-kit again, or work in a complete checkout."
    )


def list_corpora():
    """Names of the shipped corpora, sorted."""
    return sorted(
        folder.name
        for folder in shipped("corpora").iterdir()
        if (folder / "passages.jsonl").is_file()
    )


def load_corpus(name):
    """A shipped corpus: passages, questions, and under `extractions["annotations"]` what its
    writers noted by hand.
    """
    names = list_corpora()
    if name not in names:
        raise MiniragError(
            f"There is no shipped corpus {name!r}; there are: {', '.join(names)}. For your own texts use read_folder(path)."
        )
    return read_corpus(shipped("corpora") / name)


def corpus_card(name):
    """What `corpus.yaml` says of a shipped corpus: a dict with title, description, language,
    licence and notes.
    """
    import yaml

    return yaml.safe_load(shipped(f"corpora/{name}/corpus.yaml").read_text(encoding="utf-8"))


def read_corpus(folder):
    """Read a folder in the shipped layout: passages.jsonl, and where they exist questions.jsonl and
    annotations.jsonl.
    """
    folder = Path(folder)
    documents = tuple(
        Document(row["id"], row["text"], row.get("title", ""))
        for row in _rows(folder / "passages.jsonl", "id", "text")
    )
    ids = Counter(document.id for document in documents)
    if twice := [id for id, count in ids.items() if count > 1]:
        raise MiniragError(
            f"{folder.name}/passages.jsonl: two passages have the same id {twice[0]!r}. "
            "Ids must be unique."
        )
    ids = set(ids)
    chunks = tuple(Chunk(d.id, d.text, d.title, d.id, 0, len(d.text)) for d in documents)
    extractions = (
        {"annotations": _annotations(folder / "annotations.jsonl", ids)}
        if (folder / "annotations.jsonl").is_file()
        else {}
    )
    return Corpus(
        folder.name, documents, chunks, _questions(folder / "questions.jsonl", ids), extractions
    )


def _rows(path, *needed):
    for row in read_jsonl(path):
        missing = [key for key in needed if not isinstance(row, dict) or key not in row]
        if missing:
            raise MiniragError(
                f"{path.parent.name}/{path.name}: the row {str(row)[:80]} has no {missing[0]!r}."
            )
        yield row


def _known(path, ids, used):
    unknown = sorted(set(used) - ids)
    if unknown:
        raise MiniragError(
            f"{path.parent.name}/{path.name} names {unknown[0]!r}, which is no passage id of this corpus."
        )


def _questions(path, ids):
    if not path.is_file():
        return ()
    questions = []
    for row in _rows(path, "id", "question"):
        answers, gold, chain = (tuple(row.get(field, ())) for field in ("answers", "gold", "chain"))
        _known(path, ids, gold)
        questions.append(
            Question(row["id"], row["question"], answers, gold, row.get("kind", ""), chain)
        )
    return tuple(questions)


def _annotations(path, ids):
    entities, triples = {}, {}
    for row in _rows(path, "id", "entities", "triples"):
        _known(path, ids, [row["id"]])
        if any(len(triple) != 3 for triple in row["triples"]):
            raise MiniragError(
                f"{path.parent.name}/{path.name}, passage {row['id']!r}: a triple is [subject, relation, object]."
            )
        entities[row["id"]] = tuple(row["entities"])
        triples[row["id"]] = tuple(Triple(*triple) for triple in row["triples"])
    return Extraction(ANNOTATIONS, entities, triples)
