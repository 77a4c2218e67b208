"""Five more public question sets of the survey's Table 4, each read from its authors' files into a
Corpus: MultiHop-RAG, PopQA, QuALITY, ASQA as ALCE publishes it, and UltraDomain.

None is fetched: the content of their files could not be verified when this was written, so that no
blob id is declared in `data/datasets.yaml`. The reader downloads them and names the files:

    read_dataset("multihop-rag", "corpus.json", "MultiHopRAG.json")
    read_dataset("popqa", "popqa_longtail_w_gs.jsonl")
    read_dataset("quality", "QuALITY.v1.0.1.htmlstripped.train", "QuALITY.v1.0.1.htmlstripped.dev")
    read_dataset("alce", "asqa_eval_gtr_top100.json")
    read_dataset("ultradomain", "cs.jsonl")

Fields that are read, by set. Others may be there, and those in brackets may be missing.

- multihop-rag (huggingface.co/datasets/yixuantt/MultiHopRAG): of an article title, body; of a
  question query, answer, question_type and evidence_list with title and fact.
- popqa (github.com/AkariAsai/self-rag, with passages): question, possible_answers (a list, or its
  JSON), [id, prop, ctxs with text and [title]]. The TSV of PopQA's authors has no ctxs, so that its
  corpus has no passages, unless a file of rows with question and ctxs is named as well.
  Self-RAG's file has 1,399 questions, and the survey's accuracies are counts out of 1,399.
- quality (github.com/nyu-mll/quality): title, article, questions with question, options,
  [gold_label from 1, question_unique_id, difficult]. The test split has no gold_label, so that its
  questions have no answer. The survey's 4,609 questions are those of train and dev.
- alce (huggingface.co/datasets/princeton-nlp/ALCE-data): question, qa_pairs with short_answers,
  docs with title and text, [sample_id].
- ultradomain (huggingface.co/datasets/TommyChien/UltraDomain; mix, cs, legal, agriculture): input,
  answers, context, [_id]. These are the set's own questions, each about one book. The survey's 125
  abstract questions on each domain were written by GPT-4o and are not here.
"""

import csv
import io
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from ..core.corpus import Chunk, Corpus, Document, Question
from ..core.errors import MiniragError
from ..text.chunking import chunk_tokens

Row = Mapping[str, Any]  # a row of JSON, or of a TSV
Pairs = list[tuple[str, str]]  # title and text: passages, or articles and what was found in them
Read = tuple[Pairs, list[Question], Pairs]  # passages, questions, and the evidence of these
Chunker = Callable[[Document], list[Chunk]]


@dataclass(frozen=True)
class Parted(Question):
    """A question that asks several things: `parts` holds the accepted wordings of each, `answers`
    all of them.
    """

    parts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class MultipleChoice(Question):
    """A question with options: `letter` ("A" for the first) names the right one, and `answers`
    holds its text. The options are not part of `text`; `shown` has both.
    """

    options: tuple[str, ...] = ()
    letter: str = ""

    @property
    def shown(self) -> str:
        """The question, and a line for each option, behind its letter."""
        return "\n".join([self.text, *map("{}. {}".format, ascii_uppercase, self.options)])


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
        raise TypeError(f"a list of texts is expected, not {str(values)[:60]!r}")
    return tuple(values)


def _answers(values: object) -> tuple[str, ...]:
    """Each accepted wording once, blank ones left out."""
    return tuple(dict.fromkeys(text for text in _texts(values) if text.strip()))


def _passages(rows: Iterable[Row]) -> Pairs:
    return [(row.get("title") or "", row["text"]) for row in rows]


def _multihop_rag(row: Row) -> Read:
    if "body" in row:
        return [(row["title"], row["body"])], [], []
    found = [(each["title"], each["fact"]) for each in row["evidence_list"]]
    answers, facts = _answers([row["answer"]]), tuple(fact for _, fact in found)
    return [], [Question("", row["query"], answers, (), row["question_type"], facts)], found


def _popqa(row: Row) -> Read:
    passages = _passages(row.get("ctxs", ()))
    if passages and "possible_answers" not in row:
        return passages, [], []
    answers = row["possible_answers"]
    answers = _answers(json.loads(answers) if isinstance(answers, str) else answers)
    id, kind = str(row.get("id", "")), row.get("prop", "")
    return passages, [Question(id, row["question"], answers, (), kind)], []


def _quality(row: Row) -> Read:
    asked: list[Question] = []
    for each in row["questions"]:
        options, label = _texts(each["options"]), each.get("gold_label")
        if label is not None and label not in range(1, len(options) + 1):
            raise ValueError(f"gold_label {label!r} is none of the {len(options)} options")
        right = slice(0, 0) if label is None else slice(label - 1, label)
        id, kind = each.get("question_unique_id", ""), "hard" if each.get("difficult") else ""
        given = (id, each["question"], options[right], (), kind, (), options)
        asked.append(MultipleChoice(*given, ascii_uppercase[right]))
    return [(row["title"], row["article"])], asked, []


def _alce(row: Row) -> Read:
    parts = tuple(_answers(pair["short_answers"]) for pair in row["qa_pairs"])
    answers = tuple(dict.fromkeys(chain.from_iterable(parts)))
    asked = Parted(str(row.get("sample_id", "")), row["question"], answers, parts=parts)
    return _passages(row["docs"]), [asked], []


def _ultradomain(row: Row) -> Read:
    asked = Question(str(row.get("_id", "")), row["input"], _answers(row["answers"]))
    return [("", row["context"])], [asked], []


SETS: dict[str, Callable[[Row], Read]] = {
    "multihop-rag": _multihop_rag, "popqa": _popqa, "quality": _quality, "alce": _alce,
    "ultradomain": _ultradomain,
}  # fmt: skip
WHOLE = ("popqa", "alce")  # their passages are chunks already
NEEDED = "help(minirag.corpora.survey_sets) lists the files and fields that are read."


def read_dataset(name: str, *paths: str | Path, chunker: Chunker | None = None) -> Corpus:
    """One of the survey's sets as a Corpus, from the files that its authors publish.

    A passage that several rows hold is one document. ALCE's questions are `Parted` (short answers
    by sub-question), QuALITY's `MultipleChoice`. Only MultiHop-RAG says which sentences are the
    evidence: gold are the chunks that hold one of them, or all of its article where no chunk holds
    it word by word. The other sets have answers and no gold passages.
    name: 'multihop-rag', 'popqa', 'quality', 'alce' or 'ultradomain'.
    paths: the set's files, read as one: a JSON list, a row of JSON a line, or a .tsv.
    chunker: how a document is cut; by default passages of PopQA and ALCE stay whole, and other
    texts are cut into 1,200 tokens with an overlap of 100.
    Raises `MiniragError` for another name, for a file or a row that is not one of the set, by its
    number, and for two questions with one id.

    Source: Survey, Table 4 (tab-4)
    """
    if name not in SETS or not paths:
        raise MiniragError(f"read_dataset({name!r}, ...) wants one of {', '.join(SETS)} and files.")
    passages: dict[tuple[str, str], None] = {}
    questions: dict[str, Question] = {}
    evidence: dict[str, Pairs] = {}
    for path in map(Path, paths):
        where = "as a whole"
        try:
            for where, row in _rows(path):  # noqa: B007 (the error names the last one)
                read = SETS[name](json.loads(row) if isinstance(row, str) else row)
                _texts([*chain(*read[0], *read[2]), *(question.text for question in read[1])])
                passages |= dict.fromkeys(pair for pair in read[0] if pair[1].strip())
                for question in read[1]:
                    id = question.id or f"{name}-{len(questions) + 1}"
                    if id in questions:
                        raise ValueError(f"a question before it has the id {id}")
                    questions[id], evidence[id] = replace(question, id=id), read[2]
        except (OSError, KeyError, TypeError, ValueError, AttributeError, csv.Error) as error:
            problem = f"cannot be read as {name} ({type(error).__name__}: {error}). {NEEDED}"
            raise MiniragError(f"{path.name}, {where}: {problem}") from None
    called = f"{name}-{Path(paths[0]).stem}" if name == "ultradomain" else name
    width = max(4, len(str(len(passages))))
    documents = [
        Document(f"{called}/{i:0{width}d}", text, title) for i, (title, text) in enumerate(passages)
    ]
    # The survey does not state an overlap; its testbed's is 100.
    limits = (10**6, 0) if name in WHOLE else (1200, 100)
    cut = chunker or (lambda document: chunk_tokens(document, *limits))
    chunks = [chunk for document in documents for chunk in cut(document)]
    gold = _gold(evidence, chunks)
    asked = tuple(replace(question, gold=gold[id]) for id, question in questions.items())
    return Corpus(called, tuple(documents), tuple(chunks), asked)


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Where each row stands, and the row, or its JSON."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".tsv":
        table = csv.DictReader(io.StringIO(text), delimiter="\t")
        yield from ((f"line {table.line_num}", row) for row in table)
    elif text.lstrip().startswith("["):
        yield from ((f"row {number}", row) for number, row in enumerate(json.loads(text), start=1))
    else:
        lines = enumerate(text.split("\n"), start=1)
        yield from ((f"line {number}", line) for number, line in lines if line.strip())


def _gold(evidence: Mapping[str, Pairs], chunks: Iterable[Chunk]) -> dict[str, tuple[str, ...]]:
    """The chunks of every question's evidence, each once, in its order."""
    articles: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        articles[chunk.title].append(chunk)
    gold: dict[str, dict[str, None]] = {id: {} for id in evidence}
    lost = {title for found in evidence.values() for title, _ in found} - set(articles)
    for id, (title, fact) in ((id, each) for id, found in evidence.items() for each in found):
        holding = [chunk for chunk in articles[title] if fact in chunk.text]
        gold[id] |= dict.fromkeys(chunk.id for chunk in holding or articles[title])
    if lost:
        warnings.warn(f"{len(lost)} articles of the evidence are not in the corpus.", stacklevel=3)
    return {id: tuple(ids) for id, ids in gold.items()}
