"""One reader per file format: a file becomes documents. Each takes (file, id, problems) and appends
(where, reason) for rows that it left out.
"""

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ..core.corpus import Document
from ..core.files import valid_text

Problems = list[tuple[str, str]]  # where in a file, and why it was left out
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
BLOCKS = (
    "address article aside blockquote body br caption dd details div dl dt fieldset figcaption "
    "figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table td th tr ul"
).split()
NOT_TEXT = "head script style noscript template svg iframe object".split()


class Unreadable(Exception):
    """A file that cannot be read; the message names the kind of file that it is."""


UNKNOWN_ENCODING = "files whose text encoding is not known, save them as UTF-8"
LOOSE_QUOTE = "lines with a quotation mark out of place, such as one that is not closed"
GUESSED_ENCODING = (
    "files whose text encoding was guessed, look at their accents or save them as UTF-8"
)


def decode(content: bytes, problems: Problems) -> str:
    """Text from bytes: by byte-order mark, else UTF-8, else charset-normalizer's guess, which is
    reported.
    """
    marked = (encoding for mark, encoding in BYTE_ORDER_MARKS if content.startswith(mark))
    text: str | None
    try:
        text = content.decode(next(marked, "utf-8"))
    except UnicodeDecodeError:
        text = _guess(content, problems)
    if text is None or "\0" in text:
        raise Unreadable(UNKNOWN_ENCODING)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _guess(content: bytes, problems: Problems) -> str | None:
    from charset_normalizer import from_bytes

    best = None if b"\0" in content else from_bytes(content).best()
    if best is None:
        return None
    problems.append((f"as {best.encoding}", GUESSED_ENCODING))
    return str(best)


def name_title(file: Path) -> str:
    """A title from a file name: 'marie_curie.txt' is 'marie curie'."""
    return " ".join(file.stem.replace("_", " ").split())


def read_text(file: Path, name: str, problems: Problems) -> list[Document]:
    """The file as it is."""
    return [Document(name, decode(file.read_bytes(), problems), name_title(file))]


def read_markdown(file: Path, name: str, problems: Problems) -> list[Document]:
    """The file as it is. Title from a heading in its first line, else the file name."""
    text = decode(file.read_bytes(), problems)
    first = next((line for line in text.splitlines() if line.strip()), "")
    title = first.lstrip("#").strip() if first.startswith("# ") else name_title(file)
    return [Document(name, text, title)]


def read_html(file: Path, name: str, problems: Problems) -> list[Document]:
    """The visible text: no scripts, styles or markup, block elements on lines of their own. Title
    from <title>, else the file name.
    """
    from bs4 import BeautifulSoup
    from bs4.element import PreformattedString

    content = file.read_bytes()
    try:
        soup = BeautifulSoup(content.decode("utf-8-sig"), "html.parser")
    except UnicodeDecodeError:  # the page's own <meta charset> or byte-order mark decides
        soup = BeautifulSoup(content, "html.parser")
    if soup.contains_replacement_characters:
        raise Unreadable(UNKNOWN_ENCODING)
    if soup.original_encoding and not soup.declared_html_encoding:
        problems.append((f"as {soup.original_encoding}", GUESSED_ENCODING))
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    for element in soup(NOT_TEXT):
        element.decompose()
    for string in soup(string=True):
        if isinstance(string, PreformattedString):  # comments, doctype and the like
            string.extract()
        elif not string.find_parent("pre"):
            string.replace_with(re.sub(r"\s+", " ", string))
    for element in soup(BLOCKS):
        element.insert_before("\n")
        element.insert_after("\n")
    lines = [" ".join(line.split()) for line in soup.get_text().splitlines()]
    return [Document(name, "\n\n".join(line for line in lines if line), title or name_title(file))]


def read_jsonl(file: Path, name: str, problems: Problems) -> list[Document]:
    """Rows {"text": ..., "title": ..., "id": ...}; only the text is needed. Other fields become
    metadata.
    """
    documents: dict[str, Document] = {}
    for number, line in enumerate(decode(file.read_bytes(), problems).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            problems.append((f"line {number}", "rows that are not valid JSON"))
            continue
        text = row.get("text") if isinstance(row, dict) else None
        if not isinstance(text, str) or not text.strip():
            problems.append((f"line {number}", "rows without a text"))
            continue
        key = valid_text(f"{name}:{number if row.get('id') in (None, '') else row['id']}")
        while key in documents:
            key += f"@{number}"
        rest = {field: value for field, value in row.items() if field not in ("text", "title")}
        documents[key] = Document(key, text, str(row.get("title") or ""), rest)
    return list(documents.values())


def read_table(file: Path, name: str, problems: Problems) -> list[Document]:
    """Each row of a table is a document: a line "column: value" for every filled cell.

    Its title is the first column's value. A column whose name another one has already is told apart
    by its number.
    """
    text = decode(file.read_bytes(), problems)
    commonest = max(",;\t", key=text.partition("\n")[0].count)
    separator = "\t" if file.suffix.lower() == ".tsv" else commonest
    rows = _table_rows(io.StringIO(text).readlines(), separator, problems)
    documents: list[Document] = []
    header: list[str] = []
    try:
        for i, cell in enumerate(next(rows, []), start=1):
            column = cell.strip() or f"column {i}"
            if column in header:
                reason = f"columns with the name of another, called {column!r} and its number"
                problems.append((f"column {i}", reason))
                column = f"{column} (column {i})"
            header.append(column)
        for number, row in enumerate(rows, start=1):
            columns = header + [f"column {i}" for i in range(len(header) + 1, len(row) + 1)]
            cells = {column: cell.strip() for column, cell in zip(columns, row) if cell.strip()}
            if cells:
                lines = "\n".join(f"{column}: {cell}" for column, cell in cells.items())
                documents.append(Document(f"{name}:{number}", lines, row[0].strip(), cells))
    except csv.Error as error:
        reason = f"tables that could not be read to their end ({error})"
        problems.append((f"row {len(documents) + 1} and after", reason))
    return documents


def _table_rows(lines: list[str], separator: str, problems: Problems) -> Iterator[list[str]]:
    """The rows of a table. A quotation mark that is not closed ends with its line, with a report.

    Else it would swallow all rows after it.
    """
    start = 0
    while start < len(lines):
        rows = csv.reader(itertools.islice(lines, start, None), delimiter=separator, strict=True)
        first = start
        try:
            for row in rows:
                yield row
                first = start + rows.line_num
            return
        except csv.Error:
            # What is no matter of quotation marks is raised again here.
            [alone] = csv.reader(lines[first : first + 1], delimiter=separator)
            problems.append((f"line {first + 1}", LOOSE_QUOTE))
            yield alone
            start = first + 1


def read_pdf(file: Path, name: str, problems: Problems) -> list[Document]:
    """The text of the pages, a blank line between them. Title from the file's own properties, else
    its name.
    """
    try:
        from pypdf import PdfReader
    except ImportError:
        raise Unreadable(
            'PDF files, which need the extra "pdf": pip install "minirag-kit[pdf]"'
        ) from None
    try:
        reader = PdfReader(file)
        pages = [page.extract_text().strip() for page in reader.pages]
        title = str(reader.metadata.title or "") if reader.metadata else ""
    except Exception as error:  # a damaged file makes pypdf raise far more than its own errors
        raise Unreadable(f"PDF files that are damaged or locked ({error})") from error
    if not any(pages):
        raise Unreadable("PDF files without text, scanned pages need text recognition first")
    text = "\n\n".join(page for page in pages if page)
    return [Document(name, text, title.strip() or name_title(file), {"pages": len(pages)})]


FORMATS: dict[str, Callable[[Path, str, Problems], list[Document]]] = {
    ".txt": read_text,
    ".md": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".jsonl": read_jsonl,
    ".csv": read_table,
    ".tsv": read_table,
    ".pdf": read_pdf,
}
