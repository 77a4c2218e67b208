"""Whatever has a name can be misspelt; then it is refused, with the list of what there is.

Options of methods: test_choices.py.
"""

import inspect
from typing import Optional

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import minirag as mr
from minirag.cli import app
from minirag.cli.opening import KINDS
from minirag.core.errors import MiniragError
from minirag.corpora import shipped_and_folders
from minirag.corpora.datasets import DATASETS
from minirag.corpora.survey_sets import SETS
from minirag.encoders.presets import PRESETS, TOKEN_PRESETS
from minirag.encoders.text_encoders import load_encoder
from minirag.encoders.token_encoders import load_token_encoder
from minirag.grading.exercises import list_exercises
from minirag.methods import METHODS
from minirag.methods.store import open_method
from minirag.reproduce.retrieval_tables import TARGETS, row_names

COMMANDS = get_command(app).commands
ENCODERS = ["minilm", "lsa", *PRESETS]
WRONG = "xyzzy"
ASK = ["professors", "Who?"]


def refusal(*arguments):
    """The sentence on stderr of a command that does nothing else and exits with 2."""
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert (result.exit_code, result.stdout) == (2, ""), (result.output, result.exception)
    [line] = [line for line in result.stderr.splitlines() if line.startswith("minirag: ")]
    return line


def test_a_misspelt_command_is_refused_with_all_commands():
    said = refusal("aks", *ASK)
    assert (
        "no command 'aks'" in said
        and "Did you mean 'ask'?" in said
        and all(name in said for name in COMMANDS)
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_misspelt_option_is_refused_with_all_options_of_the_command(command):
    options = [
        name
        for option in COMMANDS[command].params
        for name in (*option.opts, *option.secondary_opts)
        if name.startswith("-")
    ]
    assert command == "methods" or options
    for wrong in ("--xyzzy", *(f"{name}x" for name in options if name.startswith("--"))):
        said = refusal(command, wrong)
        assert f"`minirag {command}` has no option {wrong!r}" in said and all(
            name in said for name in options
        )


def test_an_option_without_its_value_is_refused_by_name():
    result = CliRunner().invoke(app, ["reproduce", "unified", "--json"])
    assert result.exit_code == 2
    assert "Option '--json' requires an argument" in result.stderr


FACTS = ["--questions", "facts", "--hops", "one", "--model", "yes"]
# The values that have names: command line, what exists. XYZZY stands for the misspelt one.
VALUES = [
    (["ask", WRONG, "Who?"], [*shipped_and_folders.list_corpora(), "musique_train"]),
    (["ask", *ASK, "--method", WRONG], METHODS),
    (["ask", *ASK, "--encoder", WRONG], [*ENCODERS, *TOKEN_PRESETS]),
    (["ask", *ASK, "--llm", WRONG], ["offline", *KINDS]),
    (["ask", *ASK, "--extraction", WRONG], ["annotations", "rules"]),
    (["ask", *ASK, "--task", WRONG], ["answer", "answer_open", "full_answer"]),
    (["compare", WRONG, "Who?"], shipped_and_folders.list_corpora()),
    (["compare", *ASK, "--methods", f"bm25,{WRONG}"], METHODS),
    (["compare", *ASK, "--encoder", WRONG], ENCODERS),
    (["compare", *ASK, "--llm", WRONG], KINDS),
    (["compare", *ASK, "--methods", "hipporag", "--extraction", WRONG], ["annotations", "rules"]),
    (
        ["record", WRONG, "--llm", "openai:m", "--file", "r.jsonl"],
        shipped_and_folders.list_corpora(),
    ),
    (["record", "professors", "--llm", WRONG, "--file", "r.jsonl"], KINDS),
    (
        ["record", "professors", "--llm", "openai:m", "--file", "r.jsonl", "--methods", WRONG],
        METHODS,
    ),
    (
        ["record", "professors", "--llm", "openai:m", "--file", "r.jsonl", "--encoder", WRONG],
        ENCODERS,
    ),
    (["reproduce", WRONG], TARGETS),
    (["reproduce", "professors", "--rows", WRONG], row_names("professors")),
    (["reproduce", "professors", "--encoder", WRONG], ENCODERS),
    (["fetch", WRONG], DATASETS),
    (["train", WRONG, "professors"], ["grag", "g-retriever"]),
    (["train", "grag", WRONG], [*shipped_and_folders.list_corpora(), "detours", "expla_graphs"]),
    (["train", "grag", "professors", "--tuning", WRONG], ["frozen", "lora", "full"]),
    (["train", "grag", "professors", "--follow", WRONG], ["paper", "code"]),
    (["train", "grag", "professors", "--encoder", WRONG], ENCODERS),
    (["train", "grag", "professors", "--llm", WRONG], KINDS),
    (["train", "grag", "professors", "--device", WRONG], ["cpu", "cuda"]),
    (["recommend", "--questions", WRONG], ["facts", "themes"]),
    (["recommend", *FACTS[:2], "--hops", WRONG], ["one", "several"]),
    (["recommend", *FACTS[:4], "--model", WRONG], ["no", "yes"]),
    (["recommend", *FACTS, "--index", WRONG], ["none", "little", "much"]),
    (["recommend", *FACTS, "--index", "none", "--tokens", WRONG], ["any"]),
    (["recommend", *FACTS[:4], "--model", "no", "--passages", WRONG], ["yes", "no"]),
    (["bench", "professors", "--methods", f"bm25,{WRONG}"], ["dense"]),
    (["bench", "professors", "--methods", "bm25", "--baseline", WRONG], ["bm25"]),
    (["bench", "professors", "--methods", "bm25", "--columns", WRONG], ["accuracy", "calls"]),
    (["check", WRONG], list_exercises()),
    (["map", WRONG], ["Wang", "PathRAG", "GraphRAG", "Survey", "GRAG"]),
]


@pytest.mark.parametrize(
    "arguments, known", VALUES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_misspelt_value_is_refused_with_those_that_exist(arguments, known, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MINIRAG_API_KEY", "unused")
    monkeypatch.chdir(tmp_path)
    said = refusal(*arguments)
    assert WRONG in said and not [name for name in known if name not in said], said
    assert not list(tmp_path.glob("*.jsonl"))


def test_every_value_with_a_name_is_in_the_list():
    """An option that takes a name, not a path, an address or the reader's own text, is above."""
    free = {"question", "questions", "ask", "base_url", "language_model", "model"}
    named = {
        "corpus",
        "method",
        "methods",
        "llm",
        "encoder",
        "extraction",
        "target",
        "rows",
        "name",
        "tuning",
        "follow",
        "device",
        "exercise",
        "wanted",
        "task",
        "baseline",
        "columns",
        "hops",
        "index",
        "tokens",
        "passages",
    }
    parameters = [
        each
        for command in app.registered_commands
        for each in inspect.signature(command.callback).parameters.values()
    ]
    texts = {
        each.name
        for each in parameters
        if each.annotation in (str, Optional[str], Optional[list[str]])
    }
    assert named <= texts <= free | named


SPECS = [
    (mr.load_corpus, shipped_and_folders.list_corpora()),
    (mr.load_dataset, ["musique_train", "musique"]),
    (lambda name: mr.read_dataset(name, "file.json"), SETS),
    (mr.fetch, DATASETS),
    (mr.load_encoder, ENCODERS),
    (load_token_encoder, ENCODERS),
    (mr.load_llm, ["offline", *KINDS]),
    (lambda name: mr.load_llm(name, dry_run=True), ["offline", *KINDS]),
    (lambda name: open_method(name, mr.load_corpus("professors")), METHODS),
    (lambda name: METHODS["dense"].build(mr.load_corpus("professors"), encoder=name), ENCODERS),
    (lambda name: METHODS["bm25"].build(mr.load_corpus("professors"), llm=name), KINDS),
    (
        lambda name: METHODS["hipporag"].build(
            mr.load_corpus("professors"), encoder="lsa", extraction=name
        ),
        ["annotations"],
    ),
]


@pytest.mark.parametrize("load, known", SPECS)
@pytest.mark.parametrize("name", [WRONG, f"{WRONG}:x", ""])
def test_a_misspelt_name_in_python_is_refused_with_those_that_exist(load, known, name):
    with pytest.raises(MiniragError) as caught:
        load(name)
    assert repr(name) in str(caught.value) and not [
        each for each in known if each not in str(caught.value)
    ], caught.value


@pytest.mark.parametrize("kind", [*KINDS, "hf"])
def test_a_kind_of_model_without_its_name_is_refused(kind):
    with pytest.raises(MiniragError, match="unknown language model"):
        mr.load_llm(f"{kind}:")


def test_what_the_package_does_not_offer_is_told_with_what_it_offers():
    with pytest.raises(AttributeError, match="no attribute 'HipoRAG'; it offers: .*HippoRAG"):
        mr.HipoRAG


def test_an_encoder_of_the_hub_is_asked_for_by_its_kind():
    with pytest.raises(MiniragError, match="'hf:MODEL_OR_PATH'"):
        load_encoder("hf:")
