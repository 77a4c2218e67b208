"""Folders of every supported kind, files that cannot be read, and the shipped layout."""

import json
import os
import re
import sys
import warnings

import pytest
from charset_normalizer import CharsetMatches

from minirag.core.corpus import Triple
from minirag.core.errors import MiniragError
from minirag.corpora import shipped_and_folders
from minirag.corpora.shipped_and_folders import list_corpora, load_corpus, read_corpus, read_folder
from minirag.text.chunking import chunk_sentences


def write(folder, **files):
    """Files by name, with "__" for "/" and "DOT" for "."; str as UTF-8, bytes as they are."""
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return folder


def quietly(folder, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_folder(folder, **options)


def one(folder):
    (document,) = quietly(folder).documents
    return document


def test_order_ids_and_names(tmp_path):
    write(
        tmp_path,
        bDOTtxt="B",
        sub__aDOTmd="# Big title\n\nText.",
        BDOTtxt="Capital",
        DOThidden="no",
        DOTgit__xDOTtxt="no",
        aDOTTXT="upper",
    )
    corpus = quietly(tmp_path)
    assert [d.id for d in corpus.documents] == ["B.txt", "a.TXT", "b.txt", "sub/a.md"]
    assert [d.title for d in corpus.documents] == ["B", "a", "b", "Big title"]
    assert corpus.name == tmp_path.name and quietly(tmp_path, name="mine").name == "mine"
    assert [c.document_id for c in corpus.chunks] == [d.id for d in corpus.documents]
    assert quietly(tmp_path) == corpus


def test_long_files_are_chunked_by_default_and_by_any_chunker(tmp_path):
    write(tmp_path, long_storyDOTtxt="One sentence. " * 400)
    corpus = quietly(tmp_path)
    assert [c.id for c in corpus.chunks] == [
        "long_story.txt#1",
        "long_story.txt#2",
        "long_story.txt#3",
    ]
    assert corpus.chunks[0].title == "long story"
    fine = quietly(tmp_path, chunker=lambda document: chunk_sentences(document, 30))
    assert len(fine.chunks) == 40 and all(len(c.text.split()) == 20 for c in fine.chunks)


def test_a_single_file_is_read(tmp_path):
    write(tmp_path, aDOTtxt="A", bDOTtxt="B")
    assert [d.id for d in quietly(tmp_path / "b.txt").documents] == ["b.txt"]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_encodings_with_a_mark(tmp_path, encoding):
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    assert (
        one(write(tmp_path, aDOTtxt=mark + "Łódź, 東京\r\nнет".encode(encoding))).text
        == "Łódź, 東京\nнет"
    )


def test_a_guessed_encoding_is_used_and_told(tmp_path):
    text = (
        "Съешь же ещё этих мягких французских булок, да выпей чаю. Это обычный русский текст, "
        "написанный в старой кодировке. " * 3
    )
    with pytest.warns(UserWarning, match=r"encoding was guessed.*\(1: a.txt, as .+\)"):
        corpus = read_folder(write(tmp_path, aDOTtxt=text.encode("cp1251")))
    assert corpus.documents[0].text == text


def test_undecodable_files_lose_nothing_of_the_others(tmp_path):
    write(
        tmp_path,
        aDOTtxt="Good.",
        bDOTtxt=b"\x00\x9f\x92\xff\x00\x01",
        cDOTmd="",
        dDOTtxt=" \n ",
        ePNGDOTpng=b"\x89PNG",
        zDOTtxt="Also good.",
    )
    with pytest.warns(UserWarning) as caught:
        corpus = read_folder(tmp_path)
    assert [d.id for d in corpus.documents] == ["a.txt", "z.txt"]
    assert len(caught) == 1 and caught[0].filename == __file__
    said = str(caught[0].message)
    assert (
        "(1: b.txt)" in said
        and "files without any text (2: c.md, d.txt)" in said
        and "files of another kind (1: ePNG.png)" in said
    )


def test_a_file_whose_encoding_nobody_can_guess_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("charset_normalizer.from_bytes", lambda content: CharsetMatches())
    write(tmp_path, aDOTtxt="Good.", bDOTtxt="naïve façade".encode("latin-1"))
    with pytest.warns(UserWarning, match=r"save them as UTF-8 \(1: b.txt\)"):
        assert len(read_folder(tmp_path).documents) == 1


@pytest.mark.parametrize(
    "files, said",
    [
        ({}, "it holds no files"),
        ({"aDOTpng": b"x"}, "another kind"),
        ({"aDOTtxt": " "}, "without any text"),
    ],
)
def test_nothing_to_read_says_what_is_read(tmp_path, files, said):
    with pytest.raises(MiniragError, match=said) as caught:
        read_folder(write(tmp_path, **files))
    assert ".csv, .htm, .html, .jsonl, .md, .pdf, .tsv, .txt" in str(caught.value)


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(MiniragError, match="does not exist"):
        read_folder(tmp_path / "nowhere")


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    write(tmp_path, outside__secretDOTtxt="secret", home__aDOTtxt="A")
    home = tmp_path / "home"
    try:
        (home / "out.txt").symlink_to(tmp_path / "outside" / "secret.txt")
        (home / "outdir").symlink_to(tmp_path / "outside", target_is_directory=True)
        (home / "loop").symlink_to(home, target_is_directory=True)
        (home / "again.txt").symlink_to(home / "a.txt")
    except OSError:
        pytest.skip("this system does not let the tests make links")
    with pytest.warns(UserWarning) as caught:
        corpus = read_folder(home)
    assert [d.id for d in corpus.documents] == ["a.txt", "again.txt"]
    said = str(caught[0].message)
    assert "links that lead out of the folder (2: outdir, out.txt)" in said
    assert "linked folders, which are not followed (1: loop)" in said


def test_a_circle_of_links_and_a_closed_folder_are_named(tmp_path, monkeypatch):
    write(tmp_path, aDOTtxt="A", sub__bDOTtxt="B", sub__closed__cDOTtxt="C")
    try:
        (tmp_path / "one.txt").symlink_to(tmp_path / "two.txt")
        (tmp_path / "two.txt").symlink_to(tmp_path / "one.txt")
    except OSError:
        pytest.skip("this system does not let the tests make links")
    scandir = os.scandir

    def closed(path):
        if os.path.basename(path) == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(
        os, "scandir", closed
    )  # taking the right away would not stop an administrator
    with pytest.warns(UserWarning) as caught:
        corpus = read_folder(tmp_path)
    assert [d.id for d in corpus.documents] == ["a.txt", "sub/b.txt"]
    said = str(caught[0].message)
    assert re.search(
        r"links that lead in a circle \(2: (one.txt, two.txt|two.txt, one.txt)\)", said
    )
    assert "folders that could not be opened (Permission denied) (1: sub/closed)" in said


def test_names_and_texts_that_are_no_valid_unicode_become_valid(tmp_path):
    names = [b"caf\xe9.txt", b"caf\xe8.txt"]
    try:
        for name in names:
            with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
                file.write("Coffee.")
    except OSError:
        pytest.skip("this file system takes valid names only")
    rows = [
        '{"text": "half \\ud83d of it", "title": "t\\udc00"}',
        '{"id": "\\ud83d", "text": "a"}',
        '{"id": "\\ud83e", "text": "b"}',
    ]
    write(tmp_path, rowsDOTjsonl="\n".join(rows))
    with pytest.warns(UserWarning, match=r"in whose place stands � \(1: rows.jsonl:1\)"):
        corpus = read_folder(tmp_path)
    ids = ["caf\\xe8.txt", "caf\\xe9.txt", "rows.jsonl:1", "rows.jsonl:�", "rows.jsonl:�@3"]
    assert [d.id for d in corpus.documents] == [c.document_id for c in corpus.chunks] == ids
    assert corpus.documents[0].title == "caf�" and (
        corpus.documents[2].title,
        corpus.documents[2].text,
    ) == ("t�", "half � of it")
    for noun in (*corpus.documents, *corpus.chunks):
        "".join(value for value in vars(noun).values() if isinstance(value, str)).encode("utf-8")


PAGE = """<!DOCTYPE html><html><head><title>Ada &amp; Co</title>
<style>p{}</style><script>alert(1)</script></head>
<body><!-- hidden -->
<h1>Heading</h1><p>One <b>bold</b>,
wrapped&nbsp;word.</p><ul><li>first<li>second</ul><noscript>no</noscript>
<script>bad()</script><pre>line 1
line 2</pre><p>a &lt;tag&gt;</p></body></html>"""


def test_html_is_text_only(tmp_path):
    document = one(write(tmp_path, aDOThtml=PAGE))
    assert document.title == "Ada & Co"
    assert document.text.split("\n\n") == [
        "Heading",
        "One bold, wrapped word.",
        "first",
        "second",
        "line 1",
        "line 2",
        "a <tag>",
    ]


def test_html_with_its_own_charset(tmp_path):
    document = one(
        write(
            tmp_path, pageDOThtm='<meta charset="iso-8859-1"><p>naïve façade</p>'.encode("latin-1")
        )
    )
    assert (document.title, document.text) == ("page", "naïve façade")


def test_jsonl_rows_are_documents_and_broken_rows_are_told(tmp_path):
    rows = [
        '{"id": "p1", "title": "T", "text": "First.", "year": 1999}',
        "{broken",
        '{"text": "Third."}',
        '{"title": "no text"}',
        "[1]",
        '{"id": "p1", "text": "Sixth.\u2028Still."}',
        "",
    ]
    with pytest.warns(UserWarning) as caught:
        documents = read_folder(write(tmp_path, rowsDOTjsonl="\n".join(rows))).documents
    assert [(d.id, d.title, d.text) for d in documents] == [
        ("rows.jsonl:p1", "T", "First."),
        ("rows.jsonl:3", "", "Third."),
        ("rows.jsonl:p1@6", "", "Sixth.\u2028Still."),
    ]
    assert documents[0].metadata == {"id": "p1", "year": 1999}
    said = str(caught[0].message)
    assert (
        "not valid JSON (1: rows.jsonl, line 2)" in said
        and "rows without a text (2: rows.jsonl, line 4, rows.jsonl, line 5)" in said
    )


@pytest.mark.parametrize("suffix, mark", [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_table_rows_are_documents(tmp_path, suffix, mark):
    rows = [
        ["name", "born", ""],
        ["Ada", "1815", "x"],
        ["", "", ""],
        ["Grace", "", '"two\nlines"', "more"],
    ]
    (tmp_path / f"t.{suffix}").write_text(
        "\n".join(mark.join(row) for row in rows), encoding="utf-8"
    )
    documents = quietly(tmp_path).documents
    assert [(d.id, d.title, d.text) for d in documents] == [
        (f"t.{suffix}:1", "Ada", "name: Ada\nborn: 1815\ncolumn 3: x"),
        (f"t.{suffix}:3", "Grace", "name: Grace\ncolumn 3: two\nlines\ncolumn 4: more"),
    ]


def test_a_table_that_breaks_off_keeps_its_rows(tmp_path):
    with pytest.warns(UserWarning, match="could not be read to their end"):
        corpus = read_folder(write(tmp_path, tDOTcsv="name,text\nAda,one\nBig," + "x" * 200_000))
    assert [d.title for d in corpus.documents] == ["Ada"]


def test_a_quotation_mark_that_is_not_closed_swallows_no_row(tmp_path):
    rows = [
        "name,text",
        'Ada,"one',
        "Ben,two",
        'Cy,"three, of ""three"""',
        'Di,"four" and more',
        'Ed,"five',
        "lines",
    ]
    with pytest.warns(
        UserWarning, match=r"not closed \(3: t.csv, line 2, t.csv, line 5, t.csv, line 6\)"
    ):
        corpus = read_folder(write(tmp_path, tDOTcsv="\n".join(rows)))
    texts = {d.title: d.text for d in corpus.documents}
    assert list(texts) == ["Ada", "Ben", "Cy", "Di", "Ed", "lines"]
    assert texts["Ada"] == "name: Ada\ntext: one" and texts["Ben"] == "name: Ben\ntext: two"
    assert (
        texts["Cy"] == 'name: Cy\ntext: three, of "three"'
        and texts["Di"] == "name: Di\ntext: four and more"
    )


def test_columns_of_one_name_are_both_kept(tmp_path):
    with pytest.warns(UserWarning, match=r"called 'note' and its number \(1: t.csv, column 3\)"):
        corpus = read_folder(write(tmp_path, tDOTcsv="name,note,note\nAda,first,second"))
    assert corpus.documents[0].text == "name: Ada\nnote: first\nnote (column 3): second"


def small_pdf(text):
    """A one-page PDF, written by hand."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 "
            b"5 0 R>>>>>>"
        ),
        b"<</Length %d>>stream\n" % len(stream) + stream + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj" % number + content + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        body
        + b"xref\n0 6\n0000000000 65535 f \n"
        + table
        + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(body)
    )


def test_pdf(tmp_path):
    pytest.importorskip("pypdf")
    document = one(write(tmp_path, a_paperDOTpdf=small_pdf("Graphs help retrieval.")))
    assert (document.title, document.text, document.metadata) == (
        "a paper",
        "Graphs help retrieval.",
        {"pages": 1},
    )


def test_pdf_without_text_or_damaged_is_told(tmp_path):
    pytest.importorskip("pypdf")
    write(tmp_path, aDOTpdf=small_pdf(""), bDOTpdf=b"%PDF-1.4 broken", cDOTtxt="C")
    with pytest.warns(UserWarning) as caught:
        assert [d.id for d in read_folder(tmp_path).documents] == ["c.txt"]
    said = str(caught[0].message)
    assert (
        "text recognition first (1: a.pdf)" in said
        and "damaged or locked" in said
        and "(1: b.pdf)" in said
    )


def test_pdf_without_the_extra_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    write(tmp_path, aDOTpdf=small_pdf("x"), bDOTtxt="B")
    with pytest.warns(UserWarning, match=r'pip install "minirag-kit\[pdf\]" \(1: a.pdf\)'):
        assert len(read_folder(tmp_path).documents) == 1


def shipped_layout(folder, **changes):
    rows = {
        "passages": [
            {"id": "p1", "title": "A", "text": "Alpha."},
            {"id": "p2", "title": "B", "text": "Beta."},
        ],
        "questions": [
            {
                "id": "q1",
                "question": "Which?",
                "answers": ["Alpha"],
                "gold": ["p1"],
                "kind": "bridge",
                "chain": ["one", "two"],
            }
        ],
        "annotations": [{"id": "p1", "entities": ["Alpha"], "triples": [["Alpha", "is", "first"]]}],
    } | changes
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in rows.items():
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in content), encoding="utf-8"
        )
    (folder / "corpus.yaml").write_text("name: small\ntitle: Small\n", encoding="utf-8")
    return folder


def test_the_shipped_layout(tmp_path):
    corpus = read_corpus(shipped_layout(tmp_path / "small"))
    assert (
        corpus.name == "small"
        and [c.id for c in corpus.chunks] == ["p1", "p2"]
        and corpus.chunks[1].passage == "B\nBeta."
    )
    assert all(d.text[c.start : c.end] == c.text for c, d in zip(corpus.chunks, corpus.documents))
    question = corpus.question("q1")
    assert (question.answers, question.gold, question.kind, question.chain) == (
        ("Alpha",),
        ("p1",),
        "bridge",
        ("one", "two"),
    )
    extraction = corpus.extractions["annotations"]
    assert extraction.source == "shipped annotations"
    assert extraction.triples == {
        "p1": (Triple("Alpha", "is", "first"),)
    } and extraction.entities == {"p1": ("Alpha",)}


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"passages": [{"id": "p1", "text": "a"}, {"id": "p1", "text": "b"}]}, "same id 'p1'"),
        ({"passages": [{"id": "p1"}]}, "no 'text'"),
        (
            {"questions": [{"id": "q", "question": "?", "gold": ["p9"]}]},
            "questions.jsonl names 'p9'",
        ),
        (
            {"annotations": [{"id": "p9", "entities": [], "triples": []}]},
            "annotations.jsonl names 'p9'",
        ),
        ({"annotations": [{"id": "p1", "entities": [], "triples": [["a", "b"]]}]}, "a triple is"),
    ],
)
def test_a_broken_shipped_corpus_says_where(tmp_path, changes, said):
    with pytest.raises(MiniragError, match=said):
        read_corpus(shipped_layout(tmp_path / "small", **changes))


def test_every_shipped_corpus_loads():
    names = list_corpora()
    assert names and names == sorted(names)
    for name in names:
        corpus = load_corpus(name)
        assert (
            corpus.name == name and corpus.chunks and shipped_and_folders.corpus_card(name)["title"]
        )


def test_an_unknown_corpus_lists_the_others(tmp_path, monkeypatch):
    shipped_layout(tmp_path / "data" / "corpora" / "small")
    monkeypatch.setattr(shipped_and_folders, "__file__", str(tmp_path / "corpora" / "shipped.py"))
    assert list_corpora() == ["small"] and load_corpus("small").name == "small"
    with pytest.raises(
        MiniragError,
        match="no shipped corpus 'large'; there are: small. For your own texts use read_folder",
    ):
        load_corpus("large")


def test_shipped_data_is_found_in_the_package_before_the_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(
        shipped_and_folders, "__file__", str(tmp_path / "minirag" / "corpora" / "shipped.py")
    )
    write(tmp_path, data__xDOTtxt="checkout")
    assert shipped_and_folders.shipped("x.txt").read_text() == "checkout"
    write(tmp_path, minirag__data__xDOTtxt="wheel")
    assert shipped_and_folders.shipped("x.txt").read_text() == "wheel"
    with pytest.raises(MiniragError, match="'y.txt' is missing from this installation"):
        shipped_and_folders.shipped("y.txt")
