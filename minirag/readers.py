"""A folder of the reader's own texts as a corpus, and where the shipped ones come from."""

import os
import warnings
from collections import Counter
from pathlib import Path

from minirag.chunking import chunk_tokens
from minirag.corpus import Corpus
from minirag.formats import FORMATS, Unreadable
from minirag.shipped import corpus_card, list_corpora, load_corpus, read_corpus, shipped
from minirag.utils import MiniragError, progress

__all__ = ["corpus_card", "list_corpora", "load_corpus", "read_corpus", "read_folder", "shipped"]

SHOWN = 10


def read_folder(path, chunker=None, *, name=None):
    """Read every text below a folder (or one file) into a Corpus, in the order of the files' names.

    Read are .txt, .md, .html, .pdf (with the extra `pdf`), .jsonl (rows with a text, and perhaps id and title) and the tables .csv and .tsv, whose rows
    become documents of "column: value" lines. A document's id is its path below the folder, with "/" between folders; rows add ":" and their id or
    line. Hidden files and folders are passed over, links that lead out of the folder are not followed.
    What cannot be read is left out, and one warning at the end says how many files, which, and why.
    chunker: a function document -> list of chunks; default `chunk_tokens`, 600 tokens with 100 of overlap.
    """
    root = Path(path).expanduser()
    if not root.exists():
        raise MiniragError(f"{str(path)!r} does not exist. read_folder wants a folder, or one file, of: {_suffixes()}.")
    base = root if root.is_dir() else root.parent
    documents, chunks, skipped = [], [], []
    for file in progress(_files(root, skipped), description="reading", unit="file"):
        for document in _read(file, file.relative_to(base).as_posix(), skipped):
            pieces = (chunker or chunk_tokens)(document)
            documents += [document] * bool(pieces)
            chunks += pieces
    if not documents:
        raise MiniragError(
            f"There is no text to read in {str(path)!r}: {_summary(skipped) or 'it holds no files'}. Files with these suffixes are read: {_suffixes()}."
        )
    if skipped:
        warnings.warn(f"read_folder({str(path)!r}) read {len(documents)} documents. Left out, or to be looked at: {_summary(skipped)}.", stacklevel=2)
    return Corpus(name or root.resolve().name, tuple(documents), tuple(chunks))


def _suffixes():
    return ", ".join(sorted(FORMATS))


def _files(root, skipped):
    """The files to try, sorted by their path below `root`."""
    if root.is_file():
        return [root]
    home, found = root.resolve(), []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [each for each in subfolders if not each.startswith(".")]
        for file in (Path(folder) / each for each in names if not each.startswith(".")):
            if file.is_symlink() and not file.resolve().is_relative_to(home):
                skipped.append((file.relative_to(root).as_posix(), "links that lead out of the folder"))
            else:
                found.append(file)
    return sorted(found, key=lambda file: file.relative_to(root).as_posix())


def _read(file, relative, skipped):
    """The documents of one file; what is wrong with it goes to `skipped` as (name, reason)."""
    read = FORMATS.get(file.suffix.lower())
    if read is None:
        skipped.append((relative, "files of another kind"))
        return []
    if not file.is_file():
        skipped.append((relative, "links to nowhere and special files"))
        return []
    problems = []
    try:
        documents = [document for document in read(file, relative, problems) if document.text.strip()]
    except Unreadable as error:
        skipped.append((relative, str(error)))
        return []
    except OSError as error:
        skipped.append((relative, f"files that could not be opened ({error.strerror})"))
        return []
    skipped += [(f"{relative}, {where}", reason) for where, reason in problems]
    if not documents and not problems:
        skipped.append((relative, "files without any text"))
    return documents


def _summary(skipped):
    """'files without any text (2: a.txt, b.md); ...': grouped by reason, the first names of each."""
    parts = []
    for reason, count in Counter(reason for _, reason in skipped).items():
        names = [name for name, why in skipped if why == reason]
        parts.append(f"{reason} ({count}: {', '.join(names[:SHOWN])}{', ...' if count > SHOWN else ''})")
    return "; ".join(parts)
