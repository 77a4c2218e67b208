"""The corpora that the kit ships, a folder of the reader's own texts as a corpus, and where the
kit's own data lies.
"""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..core.corpus import Chunk, Corpus, Document, Extraction, Question, Triple
from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import read_jsonl, valid_text
from ..text.chunking import chunk_tokens
from .formats import FORMATS, Problems, Unreadable

ANNOTATIONS = "shipped annotations"
TRIPLES = "shipped triples"
SHOWN = 10
HALF_CHARACTERS = "texts with half a character, in whose place stands �"


def shipped(path: str | Path = "") -> Path:
    """The path of a file or folder of the kit's `data/`: inside the installed package, else beside
    it in a checkout.
    """
    package = Path(__file__).parents[1]
    for data in (package / "data", package.parent / "data"):
        if (data / path).exists():
            return data / path
    raise MiniragError(
        f"The kit's data file {str(path)!r} is missing from this installation. "
        "Install minirag-kit again, or work in a complete checkout."
    )


def list_corpora() -> list[str]:
    """Names of the shipped corpora, sorted."""
    return sorted(
        folder.name
        for folder in shipped("corpora").iterdir()
        if (folder / "passages.jsonl").is_file()
    )


def load_corpus(name: str) -> Corpus:
    """A shipped corpus: passages, questions, and what its writers noted by hand: passage by passage
    under `extractions["annotations"]`, as one knowledge graph under `extractions["triples"]`.
    """
    names = list_corpora()
    if name not in names:
        raise MiniragError(
            f"There is no shipped corpus {name!r}; there are: {', '.join(names)}. "
            "For your own texts use read_folder(path)."
        )
    return read_corpus(shipped("corpora") / name)


def corpus_card(name: str) -> dict[str, Any]:
    """What `corpus.yaml` says of a shipped corpus: a dict with title, description, language,
    licence and notes.
    """
    import yaml

    return yaml.safe_load(shipped(f"corpora/{name}/corpus.yaml").read_text(encoding="utf-8"))


def read_corpus(folder: str | Path) -> Corpus:
    """Read a folder in the shipped layout: passages.jsonl, and where they exist questions.jsonl,
    annotations.jsonl and triples.jsonl.
    """
    folder = Path(folder)
    rows = _rows(folder / "passages.jsonl", "id", "text")
    documents = tuple(Document(row["id"], row["text"], row.get("title", "")) for row in rows)
    ids = Counter(document.id for document in documents)
    if twice := [id for id, count in ids.items() if count > 1]:
        raise MiniragError(
            f"{folder.name}/passages.jsonl: two passages have the same id {twice[0]!r}. "
            "Ids must be unique."
        )
    chunks = tuple(Chunk(d.id, d.text, d.title, d.id, 0, len(d.text)) for d in documents)
    questions = _questions(folder / "questions.jsonl", ids)
    notes, graph = folder / "annotations.jsonl", folder / "triples.jsonl"
    extractions = {"annotations": _annotations(notes, ids)} if notes.is_file() else {}
    if graph.is_file():
        extractions["triples"] = _triples(graph, documents)
    return Corpus(folder.name, documents, chunks, questions, extractions)


def _rows(path: Path, *needed: str) -> Iterator[dict[str, Any]]:
    for row in read_jsonl(path):
        missing = [key for key in needed if not isinstance(row, dict) or key not in row]
        if missing:
            raise MiniragError(
                f"{path.parent.name}/{path.name}: the row {str(row)[:80]} has no {missing[0]!r}."
            )
        yield row


def _known(path: Path, ids: Collection[str], used: Iterable[str]) -> None:
    unknown = sorted(set(used).difference(ids))
    if unknown:
        raise MiniragError(
            f"{path.parent.name}/{path.name} names {unknown[0]!r}, "
            "which is no passage id of this corpus."
        )


def _questions(path: Path, ids: Collection[str]) -> tuple[Question, ...]:
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


def _annotations(path: Path, ids: Collection[str]) -> Extraction:
    entities, triples = {}, {}
    for row in _rows(path, "id", "entities", "triples"):
        _known(path, ids, [row["id"]])
        if any(len(triple) != 3 for triple in row["triples"]):
            raise MiniragError(
                f"{path.parent.name}/{path.name}, passage {row['id']!r}: "
                "a triple is [subject, relation, object]."
            )
        entities[row["id"]] = tuple(row["entities"])
        triples[row["id"]] = tuple(Triple(*triple) for triple in row["triples"])
    return Extraction(ANNOTATIONS, entities, triples)


def _triples(path: Path, documents: Iterable[Document]) -> Extraction:
    """A knowledge graph of its own: each triple goes to the page that its head is the title of, and
    a page's entities are its title and the names in its triples.
    """
    page = {document.title: document.id for document in documents}
    triples: dict[str, list[Triple]] = {}
    for row in _rows(path, "head", "relation", "tail"):
        if row["head"] not in page:
            raise MiniragError(
                f"{path.parent.name}/{path.name}: the head {row['head']!r} "
                "is no passage's title in this corpus."
            )
        _known(path, page.values(), row.get("pages", ()))
        triple = Triple(row["head"], row["relation"], row["tail"])
        triples.setdefault(page[row["head"]], []).append(triple)
    ends = {id: [triple.object for triple in rows] for id, rows in triples.items()}
    entities = {id: tuple(dict.fromkeys([title, *ends.get(id, ())])) for title, id in page.items()}
    return Extraction(TRIPLES, entities, {id: tuple(rows) for id, rows in triples.items()})


def read_folder(
    path: str | Path,
    chunker: Callable[[Document], list[Chunk]] | None = None,
    *,
    name: str | None = None,
) -> Corpus:
    r"""Read every text below a folder, or one file, into a Corpus, in the order of file names.

    Read are .txt, .md, .html, .pdf (with the extra `pdf`), .jsonl (rows with a text, and perhaps id
    and title) and the tables .csv and .tsv, whose rows become documents of "column: value" lines. A
    document's id is its path below the folder, with "/" between folders; rows add ":" and their id
    or line. Hidden files and folders are passed over; linked folders, and links that lead out of
    the folder, are not followed. What cannot be read is left out, and one warning at the end says
    how many files, which, and why. Half a character (a lone surrogate) becomes U+FFFD in a text; in
    a file's name a byte that is no UTF-8 is written as \xHH.
    chunker: a function document -> list of chunks; default `chunk_tokens`, 600 tokens with 100 of
    overlap.
    """
    root = Path(path).expanduser()
    if not root.exists():
        raise MiniragError(
            f"{str(path)!r} does not exist. "
            f"read_folder wants a folder, or one file, of: {_suffixes()}."
        )
    base = root if root.is_dir() else root.parent
    documents: list[Document] = []
    chunks: list[Chunk] = []
    skipped: Problems = []
    for file in progress(_files(root, skipped), description="reading", unit="file"):
        for document in _read(file, _name(file, base), skipped):
            pieces = (chunker or chunk_tokens)(document)
            documents += [document] if pieces else []
            chunks += pieces
    if not documents:
        raise MiniragError(
            f"There is no text to read in {str(path)!r}: "
            f"{_summary(skipped) or 'it holds no files'}. "
            f"Files with these suffixes are read: {_suffixes()}."
        )
    if skipped:
        warnings.warn(
            f"read_folder({str(path)!r}) read {len(documents)} documents. "
            f"Left out, or to be looked at: {_summary(skipped)}.",
            stacklevel=2,
        )
    return Corpus(name or root.resolve().name, tuple(documents), tuple(chunks))


def _suffixes() -> str:
    return ", ".join(sorted(FORMATS))


def _name(file: Path, base: Path) -> str:
    """A file's path below `base` as valid Unicode; two files have two names, whatever the bytes."""
    return os.fsencode(file.relative_to(base).as_posix()).decode("utf-8", "backslashreplace")


def _files(root: Path, skipped: Problems) -> list[Path]:
    """The files to try, sorted by their path below `root`."""
    if root.is_file():
        return [root]

    def closed(error: OSError) -> None:
        reason = f"folders that could not be opened ({error.strerror})"
        skipped.append((_name(Path(error.filename), root), reason))

    found: list[Path] = []
    for folder, subfolders, names in os.walk(root, onerror=closed):
        subfolders[:] = [each for each in subfolders if not each.startswith(".")]
        files = [Path(folder) / each for each in names if not each.startswith(".")]
        everything = [*(Path(folder) / each for each in subfolders), *files]
        reasons = {path: _link(path, root) for path in everything}
        skipped += [(_name(path, root), reason) for path, reason in reasons.items() if reason]
        found += [path for path in files if not reasons[path]]
    return sorted(found, key=lambda file: file.relative_to(root).as_posix())


def _link(path: Path, root: Path) -> str | None:
    """Why a link is not followed; None for whatever is read."""
    if not path.is_symlink():
        return None
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # Python before 3.13 tells a circle of links by a RuntimeError
        return "links that lead in a circle"
    if not inside:
        return "links that lead out of the folder"
    return "linked folders, which are not followed" if path.is_dir() else None


def _read(file: Path, relative: str, skipped: Problems) -> list[Document]:
    """The documents of one file; what is wrong with it goes to `skipped` as (name, reason)."""
    read = FORMATS.get(file.suffix.lower())
    if read is None:
        skipped.append((relative, "files of another kind"))
        return []
    if not file.is_file():
        skipped.append((relative, "links to nowhere and special files"))
        return []
    problems: Problems = []
    try:
        documents = [d for d in read(file, relative, problems) if d.text.strip()]
    except Unreadable as error:
        skipped.append((relative, str(error)))
        return []
    except OSError as error:
        skipped.append((relative, f"files that could not be opened ({error.strerror})"))
        return []
    skipped += [(f"{relative}, {where}", reason) for where, reason in problems]
    halved = [document for document in documents if valid_text(document.text) != document.text]
    skipped += [(document.id, HALF_CHARACTERS) for document in halved]
    if not documents and not problems:
        skipped.append((relative, "files without any text"))
    return documents


def _summary(skipped: Problems) -> str:
    """'files without any text (2: a.txt, b.md); ...': grouped by reason, the first names of
    each.
    """
    parts = []
    for reason, count in Counter(reason for _, reason in skipped).items():
        names = [name for name, why in skipped if why == reason]
        more = ["..."] if count > SHOWN else []
        parts.append(f"{reason} ({count}: {', '.join([*names[:SHOWN], *more])})")
    return "; ".join(parts)
