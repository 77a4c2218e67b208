"""What the README claims is what the code generates."""

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.main import get_command

from minirag.algorithms.pagerank import personalized_pagerank
from minirag.cli import app
from minirag.cli.reproduce import METHOD_HEADERS, markdown_table, method_rows
from minirag.cli.show import markdown
from minirag.core.trace import NodeStep, WalkStep
from minirag.corpora.shipped_and_folders import load_corpus
from minirag.evaluate import compare, evaluate_answers, exact_match, load_expected
from minirag.index import adjacency_matrix
from minirag.methods import METHODS
from minirag.reproduce.retrieval_tables import row_names

QUESTION = "Which professor at Veldmark University joined the board of Quillon Instruments?"
ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# The rows of ours that a row of the paper's Table IV may stand beside, with the encoder that the
# paper's row uses.
PAPER_ROWS = {
    "bm25": {"bm25": ""},
    "dense": {"contriever": "Contriever"},
    "hipporag": {"hipporag-contriever": "Contriever", "hipporag-colbertv2": "ColBERTv2"},
}


def test_the_two_commands_stand_there_as_they_are_tested():
    assert '\npip install -e ".[offline]" -c constraints.txt && minirag lab\n' in README
    assert '\npip install -e ".[offline,test]" -c constraints.txt && pytest\n' in README


def test_the_picture_shows_what_its_caption_says():
    assert (
        f'minirag ask professors "{QUESTION}" --extraction annotations --figure '
        f"data/figures/hipporag_walk.png\n" in README
    )
    method = METHODS["hipporag"].build(load_corpus("professors"), extraction="annotations")
    names = [node.name for node in method.graph.nodes]
    trace = method.retrieve(QUESTION).trace
    walk, named = trace.last(WalkStep), [row.index for row in trace.last(NodeStep).nodes]
    (third, most), (_, next_most) = [
        item for item in walk.items if item[0] not in [names[i] for i in named]
    ][:2]
    assert len(named) == 2 and third == "odile fanshawe" and most > next_most + 1e-3
    # She is an edge away from both, and of all other nodes the walk reaches only her from both
    # sides in earnest.
    adjacency = adjacency_matrix(method.hippocampal_index)
    assert all(adjacency[names.index(third), i] > 0 for i in named)
    sides = personalized_pagerank(adjacency, np.eye(len(names))[:, named])
    weaker = {
        name: side for i, (name, side) in enumerate(zip(names, sides.min(axis=1))) if i not in named
    }
    assert max(weaker, key=weaker.get) == third and sorted(weaker.values())[-2] < weaker[third] / 2


def test_the_story_tells_what_each_method_finds():
    corpus = load_corpus("professors")
    question = next(known for known in corpus.questions if known.text == QUESTION)
    assert not [
        chunk.id
        for chunk in corpus.chunks
        if "Veldmark" in chunk.passage and "Quillon" in chunk.passage
    ]

    def gold_ranks(name, **choices):
        ids = METHODS[name].build(corpus, **choices).retrieve(QUESTION, k=len(corpus.chunks)).ids
        return sorted(ids.index(gold) + 1 for gold in question.gold)

    found_by_five = {
        name: sum(rank <= 5 for rank in gold_ranks(name))
        for name in ("bm25", "dense", "proposition")
    }
    assert found_by_five == {"bm25": 1, "dense": 0, "proposition": 0}
    assert gold_ranks("hipporag", extraction="annotations") == [3, 5]
    assert gold_ranks("hipporag")[1] == 6


def test_the_rules_answer_as_few_questions_as_it_says():
    corpus = load_corpus("professors")
    method = METHODS["hipporag"].build(corpus, extraction="annotations")
    right = [
        known.text
        for known in corpus.questions
        if exact_match(method.answer(known.text).text, known.answers)
    ]
    recorded = METHODS["hipporag"].build(corpus, "recorded", extraction="annotations")
    scores, _ = evaluate_answers(recorded, corpus.questions)
    assert f"model: {scores['EM'] * 24 / 100:.0f} of the 24 right" in README
    said = f"the {len(corpus.questions)} questions to `professors` it gets {len(right)} right"
    assert right == [QUESTION] and f"of {said}, the one above" in README


def test_the_methods_table_is_the_generated_one():
    assert markdown(METHOD_HEADERS, method_rows()) in README


def test_the_reproduction_table_is_the_stored_one():
    expected, paper = load_expected("musique_train"), load_expected("musique")["rows"]
    rows = [
        {"method": name, **{m: n["ours"] for m, n in row["metrics"].items()}}
        for name, row in expected["rows"].items()
    ]
    head, rule, *lines = markdown_table(rows, compare(rows, expected)).splitlines()
    wanted = [f"{head} paper, full MuSiQue R@2 / R@5 |", f"{rule} --- |"]
    for row, line in zip(rows, lines, strict=True):
        beside = []
        for name, encoder in PAPER_ROWS.get(row["method"], {}).items():
            numbers = " / ".join(
                f"{paper[name]['metrics'][metric]['paper']:.1f}" for metric in ("R@2", "R@5")
            )
            beside.append(numbers + (f" ({encoder})" if encoder else ""))
        wanted.append(f"{line} {', '.join(beside)} |")
    assert "\n".join(wanted) + "\n" in README


def cells_of(row):
    """The cells of a README table's line that starts with this row's name."""
    line = next(
        line
        for line in README.splitlines()
        if line.startswith(f"| {row} |") and line.count("|") == 7
    )
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def stored(target, row, metric, column="ours"):
    return load_expected(target)["rows"][row]["metrics"].get(metric, {}).get(column)


def test_the_graphrag_table_is_the_stored_one():
    for level in ("C0", "C1"):
        ours = [
            stored("dulce", level, f"{whose} {what}")
            for whose in ("microsoft", "ours")
            for what in ("units", "% of TS")
        ]
        paper = " / ".join(
            str(stored("dulce", level, f"paper {text} % of TS", "paper"))
            for text in ("podcast", "news")
        )
        assert cells_of(level) == [*map(str, ours), paper]
        assert (
            stored("dulce", "C1", "microsoft units")
            == stored("dulce", "C2", "microsoft units")
            == stored("dulce", "C3", "microsoft units")
        )


def test_the_paths_table_is_the_stored_one():
    for row in (
        "lightrag-hybrid",
        "pathrag",
        "pathrag-lt",
        "pathrag-with-passages",
        "pathrag-code",
        "pathrag-code-lines",
    ):
        ours = [
            stored("paths", f"{text} {row}", metric)
            for text in ("textbook", "dulce")
            for metric in ("tokens", "evidence %")
        ]
        paper = stored("paths", f"dulce {row}", "tokens", "paper")
        assert cells_of(row) == [*map(str, ours), "" if paper is None else str(paper)]


def test_the_map_of_notebooks_is_the_folder():
    linked = re.findall(r"\]\((notebooks/[^)]+\.ipynb)\)", README)
    there = sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "notebooks").glob("*.ipynb")
    )
    assert linked == there


def test_every_file_that_is_linked_exists():
    linked = [
        target for target in re.findall(r"\]\(([^)]+)\)", README) if not target.startswith("http")
    ]
    assert len(linked) >= 3 and not [
        target
        for target in linked
        if not target.startswith("notebooks/") and not (ROOT / target).is_file()
    ]


def test_every_command_parses():
    """Each `minirag ...` in the README names a command and options that exist."""
    group = get_command(app)
    written = re.findall(r"(?:^|&& |`)(minirag [a-z][^`\n]*)", README, flags=re.MULTILINE)
    assert len(written) >= 12
    for line in written:
        name, *arguments = shlex.split(line)[1:]
        known = {
            option
            for parameter in group.commands[name].params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word.split("=")[0] for word in arguments if word.startswith("-")} <= known, line
        methods = [value for option, value in itertools.pairwise(arguments) if option == "--method"]
        assert set(methods) <= set(METHODS)


@pytest.mark.parametrize("target", ["musique_train", "detours", "expla_graphs"])
def test_the_reproduction_log_counts_every_stored_cell(target):
    rows = load_expected(target)["rows"]
    cells = sum(
        "ours" in cell
        for name in row_names(target, all_rows=False)
        for cell in rows[name]["metrics"].values()
    )
    logged = re.findall(
        rf"\| `minirag reproduce {target}` \| (\d+) OK, (\d+) OKISH, (\d+) FAIL \|", README
    )
    assert logged and all(sum(map(int, counts)) == cells for counts in logged)


def test_the_citation_file_names_the_same_repository():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (
        cited["repository-code"] == "https://github.com/OWNER/minirag"
        and "github.com/OWNER/minirag" in README
    )


def with_spread(row, metric):
    """ "89.8 ± 6.2" for a trained row, "34.8" for one that is not."""
    numbers = row["metrics"]
    value = f"{numbers[metric]['ours']:.1f}"
    return f"{value} ± {numbers['sd']['ours']:.1f}" if row.get("tolerance") == "trained" else value


GRAG_TABLES = {
    "detours": (
        "accuracy %",
        {
            "GRAG": ("trained: GRAG", "trained: GRAG"),
            "w/o graph descriptions": ("trained: w/o graph descriptions",) * 2,
            "w/o graph descriptions, ego-graphs by the paper's ranking (Eq. 4, k = 2, N = 10)": (
                "trained: graph token, Eq. 4, k = 2, N = 10",
                "",
            ),
            "w/o soft pruning": ("trained: w/o soft pruning",) * 2,
            "w/o soft pruning and text, question added to the nodes": (
                "trained: graph token, unpruned, question added",
                "",
            ),
            "w/o graph encoder (LoRA)": ("trained: w/o graph encoder",) * 2,
            "w/o graph encoder (whole model tuned, four epochs)": (
                "trained: w/o graph encoder, LM fine-tuned for 4 epochs",
                "",
            ),
            "w/o retrieval (LoRA)": ("trained: w/o retrieval",) * 2,
            "linear, mean vectors of question and ego-graph": ("mean vectors in the ego-graph", ""),
            "most frequent value of the right type in the ego-graph": (
                "most frequent value of the right type in the ego-graph",
                "",
            ),
        },
    ),
    "expla_graphs": (
        "accuracy",
        {
            "GRAG": ("GRAG", "paper GRAG"),
            "GRAG, unpruned": ("graph token unpruned with hard prompt", ""),
            "G-Retriever": ("G-Retriever", "paper G-Retriever"),
            "GRAG with LoRA": ("GRAG with LoRA", "paper GRAG fine-tuned with LoRA"),
            "language model with the graph as text": ("LM with hard prompt", "paper LLM only"),
            "language model with the question only": ("LM only", ""),
            "graph part without language model, unpruned": ("graph part unpruned", ""),
            "always saying *support*": ("majority", ""),
            "one bit: any negated relation": ("any negated relation", ""),
            "two bits: either that or a negation in the belief, not both": (
                "negated relation xor denying belief",
                "",
            ),
            "trees on hand features": ("trees on hand features", ""),
        },
    ),
}


@pytest.mark.parametrize("target", GRAG_TABLES)
def test_the_grag_tables_are_the_stored_ones(target):
    metric, labels = GRAG_TABLES[target]
    rows = load_expected(target)["rows"]
    for label, (row, paper) in labels.items():
        beside = f"{rows[paper]['metrics'][metric]['paper']:g}" if paper else ""
        assert f"| {label} | {with_spread(rows[row], metric)} | {beside} |\n" in README


def test_the_table_of_recorded_answers_is_the_stored_one():
    stored = load_expected("answers")["rows"]
    for name, row in stored.items():
        if "Wang" not in name:
            part, method = name.split(" ")
            cells = [str(row["metrics"][metric]["ours"]) for metric in ("n", "EM", "F1")]
            table = README[README.index("| method | professors n |") :]
            line = next(line for line in table.splitlines() if line.startswith(f"| {method} |"))
            shown = line.split(" | ")[1:4] if part == "professors" else line.split(" | ")[4:7]
            assert [cell.strip(" |") for cell in shown] == cells, name


def test_the_table_of_the_benchmark_is_the_stored_one():
    stored = load_expected("unified")["rows"]
    _, _, *lines = (
        README[README.index("| method | recorded: right %") :].split("\n\n")[0].split("\n")
    )
    shown = {cells[0]: cells for cells in (line.strip("| ").split(" | ") for line in lines)}
    places = {
        "professors recorded": (1, "accuracy", 3, "R@5"),
        "musique_train by GPT-3.5": (5, "R@5", 6, "cover@4k"),
    }
    seen = set()
    for name, row in stored.items():
        table, _, method = name.partition(": ")
        if table in places:
            seen.add(method)
            first, one, second, other = places[table]
            for place, metric in ((first, one), (second, other)):
                if metric in row["metrics"]:
                    cells = [cell.strip() for cell in shown[method]]
                    assert cells[place] == str(row["metrics"][metric]["ours"]), (name, metric)
    assert seen == set(shown)


def test_the_counts_on_dulce_are_the_stored_ones():
    rows = load_expected("unified")["rows"]
    covered = {
        name.partition(": ")[2]: row["metrics"]["cover@4k"]["ours"]
        for name, row in rows.items()
        if name.startswith("dulce by GPT-4: ")
    }
    assert covered["bm25"] == 80 and covered["vanilla"] == 60
    assert "for 8 of 10 questions by BM25 and for 6 by vector search" in README
    assert list(covered.values()).count(0) == 5
