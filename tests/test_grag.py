"""GRAG and G-Retriever as methods: what they retrieve untrained, how they are trained, and that an
answer never comes from anything else.
"""

import json
import shlex
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from small import TableEncoder, corpus_of
from typer.testing import CliRunner

import minirag as mr
from minirag.algorithms.graph_text import parse_description
from minirag.cli import app
from minirag.core.corpus import Question
from minirag.core.errors import MiniragError
from minirag.core.graph import Edge, Graph, Node
from minirag.core.options import choose
from minirag.core.trace import ChunkStep, EgoGraphStep
from minirag.evaluate import training
from minirag.methods import METHODS
from minirag.methods.graph_prompted import NeedsTraining
from minirag.methods.store import open_method
from minirag.neural import CODE, ModelOptions
from minirag.neural import trained as bundles
from minirag.neural.training import Trainer

torch.set_num_threads(1)
GRAG, RETRIEVER = METHODS["grag"], METHODS["g-retriever"]
CHUNKS = corpus_of(
    ("p0", "Ann leads Bob."),
    ("p1", "Bob likes red and owns red."),
    ("p2", "Cy is far."),
    ("p3", "Dee and Ann."),
).chunks
NODES = (
    Node("ann", chunks=(0, 3)),
    Node("bob", chunks=(0, 1)),
    Node("red", chunks=(1, 1)),
    Node("cy", chunks=(2,)),
    Node("dee", chunks=(3,)),
)
EDGES = (
    Edge(0, 1, "leads", chunks=(0,)),
    Edge(1, 2, "likes", chunks=(1,)),
    Edge(1, 2, "owns", chunks=(1,)),
    Edge(4, 0, "knows", chunks=(3,)),
)
GRAPH = Graph("knowledge", "a test", NODES, EDGES, CHUNKS)
AXES = {
    "ann": [1, 0, 0],
    "leads": [0, 1, 0],
    "bob": [0.6, 0.8, 0],
    "red": [0, 0, 1],
    "whom does ann lead?": [0.8, 0.6, 0],
    "red?": [0, 0, 1],
    "cy?": [0] * 7 + [1],
}
AXES["cy"] = AXES["cy?"]
QUICK = [
    "--encoder",
    "lsa",
    "--epochs",
    "1",
    "--alignment-epochs",
    "2",
    "--language-steps",
    "3",
    "--device",
    "cpu",
]


def encoder():
    return TableEncoder(AXES)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def quick(lesson, **plan):
    plan = {"alignment_epochs": 1, "epochs": 1, "device": "cpu", **plan}
    return replace(
        lesson, plan=replace(lesson.plan, **plan), pretraining=replace(lesson.pretraining, steps=2)
    )


@pytest.fixture(scope="module")
def corpus():
    return mr.load_corpus("professors")


@pytest.fixture(scope="module")
def method(corpus):
    return GRAG.build(corpus, encoder="lsa", extraction="annotations", top=3)


@pytest.fixture(scope="module")
def bundle(method, corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    lesson = quick(training.corpus_lesson(method, corpus))
    return folder, training.train(lesson, folder), lesson


@pytest.mark.paper("GRAG", "eq-2", "eq-3", "eq-4")
def test_retrieved_ego_graphs_are_the_nearest_ones():
    """Every ego-graph by hand. Source: GRAG, Eq. 2-4 (eq-2, eq-3, eq-4)"""
    method, question = (
        GRAG.from_graph(GRAPH, encoder=encoder(), hops=1, direction="out", top=2),
        "whom does ann lead?",
    )
    found = method.retrieve(question)
    assert [step.operator for step in found.trace] == [
        "ego-graphs",
        "relationship similarity",
        "chunk from relations",
    ]
    encode, means = method.encoder.encode, []
    for nodes, edges in (([0, 1], [0]), ([1, 2], [1, 2]), ([2], []), ([3], []), ([4, 0], [3])):
        means.append(
            np.mean(encode([NODES[i].name for i in nodes] + [EDGES[i].name for i in edges]), axis=0)
        )
    cosines = [mean @ encode([question])[0] / np.linalg.norm(mean) for mean in means]
    assert [root.index for root in found.trace.last(EgoGraphStep).roots] == list(
        np.argsort(cosines)[::-1][:2]
    )


@pytest.mark.parametrize("name", ["grag", "g-retriever"])
def test_a_question_is_encoded_once(name):
    """Retrieval asks the encoder once for all questions, and for nothing else. Source: GRAG, Eq. 3
    (eq-3)
    """
    calls = []

    class Counting(TableEncoder):
        def encode(self, texts, kind="passage"):
            calls.append((kind, list(texts)))
            return super().encode(texts, kind)

    method = METHODS[name].from_graph(GRAPH, encoder=Counting(AXES))
    questions = ["whom does ann lead?", "red?"]
    assert method.index.node_vectors is method.index.node_vectors
    for ask in (method.retrieve_many, method.examples):
        calls.clear()
        ask(questions)
        assert calls == [("query", questions)]


def test_a_retrieved_edge_speaks_for_its_passages_and_a_lone_node_for_its_own():
    method = GRAG.from_graph(GRAPH, encoder=encoder(), hops=0, direction="out", top=1)
    found = method.retrieve("cy?")
    assert (
        found.ids[0] == "p2"
        and found.passages[0].score == pytest.approx(1)
        and "1 nodes without a retrieved edge" in found.trace.last(ChunkStep).summary
    )
    method = GRAG.from_graph(GRAPH, encoder=encoder(), hops=1, direction="out", top=1)
    scores, mean = (
        method.retrieve("whom does ann lead?").trace.last(ChunkStep).scores,
        np.mean(encoder().encode(["ann", "leads", "bob"]), axis=0),
    )
    assert (
        scores[0]
        == pytest.approx(mean @ encoder().encode(["whom does ann lead?"])[0] / np.linalg.norm(mean))
        and not scores[1:].any()
    )


def test_a_question_that_no_text_is_like_retrieves_without_harm(corpus):
    for name in ("grag", "g-retriever"):
        built = METHODS[name].build(corpus, encoder="lsa", extraction="annotations")
        found = built.retrieve("xyzzy")
        assert {passage.score for passage in found.passages} == {0.0} and built.retrieve_many(
            []
        ) == []


def test_a_graph_without_edges_and_a_corpus_without_triples():
    alone = Graph("knowledge", "a test", NODES, (), CHUNKS)
    for name in ("grag", "g-retriever"):
        assert METHODS[name].from_graph(alone, encoder=encoder()).retrieve("cy?").ids[0] == "p2"
    with pytest.raises(MiniragError, match="no usable triple"):
        GRAG.build(corpus_of(("p", "?")), encoder=encoder())


def test_follow_code_is_what_the_official_code_does():
    """Direction, number, lost parallel edges, flat text of the nearest items, and the model's own
    settings. Source: GRAG, Eq. 6 (eq-6); GRAG, Eq. 9 (eq-9)
    """
    paper, code = (choose(GRAG.options_type, GRAG.settings, follow) for follow in ("paper", "code"))
    assert (
        paper.model_options() == ModelOptions()
        and code.model_options() == ModelOptions.of("code")
        and set(CODE) <= set(vars(code))
    )
    assert (code.direction, code.top, code.text, code.parallel_edges) == (
        "in",
        20,
        "flat",
        "drop",
    ) and paper.top == 10
    method = GRAG.from_graph(GRAPH, encoder=encoder(), follow="code", top=1, hops=1, text_items=1)
    assert method.textual_graph.edges == (
        (0, "leads", 1),
        (4, "knows", 0),
    ) and method.read_from == (0, 3)
    [example] = method.examples(["whom does ann lead?"])
    assert example.graphs[0].nodes == ("bob", "ann")  # what reaches the root
    assert example.text == "node_id,node_attr\n1,bob\n\nsrc,edge_attr,dst\n0,leads,1\n"
    assert method.retrieve("red?").trace.last(EgoGraphStep).nodes == (
        2,
    )  # both edges to it are lost
    kept = method.with_options(parallel_edges="keep")
    assert (
        len(kept.retrieve("red?").trace.last(EgoGraphStep).edges) == 2
        and kept.chosen.text == "flat"
    )


@pytest.mark.paper("GRAG", "eq-8")
def test_the_hard_prompt_is_the_ego_graphs_description():
    """Source: GRAG, Eq. 8 (eq-8)"""
    [example] = GRAG.from_graph(GRAPH, encoder=encoder(), hops=1, direction="out", top=1).examples(
        ["whom does ann lead?"]
    )
    assert example.text == "ann is connected to bob via leads" and parse_description(
        example.text
    ).edges == ((0, "leads", 1),)
    [both] = GRAG.from_graph(GRAPH, encoder=encoder(), hops=2, top=4).examples(
        ["whom does ann lead?"]
    )
    assert len(both.text.split("\n")) == len(set(both.text.split("\n"))) and len(both.graphs) == 4
    assert GRAG.from_graph(GRAPH, encoder=encoder(), text="none").examples(["red?"])[0].text == ""


def test_g_retriever_is_the_surveys_composition():
    """Source: Survey, Table 3 (tab-3)"""
    method = RETRIEVER.from_graph(GRAPH, encoder=encoder())
    operators = [step.operator for step in method.retrieve("whom does ann lead?").trace]
    assert operators[:3] == [
        "node vdb",
        "relationship vdb",
        "steiner",
    ] and method.chosen.model_options() == ModelOptions(pruning="none")
    [example] = method.examples(["whom does ann lead?"])
    assert example.text.startswith("node_id,node_attr\n0,ann\n") and len(example.graphs) == 1
    assert (
        method.with_options(k=0, k_e=0).retrieve("whom does ann lead?").trace[0].operator
        == "steiner"
    )


def test_g_retriever_gives_a_batch_what_it_gives_each_question_alone():
    method = RETRIEVER.from_graph(GRAPH, encoder=encoder())
    questions = ["whom does ann lead?", "red?", "cy?"]

    def shown(traces):
        return [[(step.summary, step.items) for step in trace] for trace in traces]

    alone = [shown(method.score_many([asked]))[0] for asked in questions]
    assert shown(method.score_many(questions)) == alone and method.score_many([]) == []


@pytest.mark.parametrize("name", ["grag", "g-retriever"])
def test_choices_that_are_none(name):
    def build(**wrong):
        return METHODS[name].from_graph(GRAPH, encoder=encoder(), **wrong)

    for choice, says in {
        "speed": "no option 'speed'",
        "follow": "follow='x'",
        "text": "text='x'",
        "pruning": "pruning='x'",
    }.items():
        with pytest.raises(MiniragError, match=says):
            build(**{choice: "x"})
    for wrong in (
        ({"direction": "up"}, {"top": 0}, {"hops": -1})
        if name == "grag"
        else ({"k": -1}, {"edge_cost": -0.5})
    ):
        [(option, value)] = wrong.items()
        with pytest.raises(MiniragError, match=f"{option}={value!r}: expected "):
            build(**wrong)


@pytest.mark.parametrize("name", ["grag", "g-retriever"])
def test_an_index_is_kept_and_found_again(name, corpus, own_cache):
    first, built = open_method(name, corpus, encoder="lsa", extraction="annotations")
    again, found = open_method(name, corpus, encoder="lsa", extraction="annotations")
    assert (
        (built, found) == ("kept", "reused")
        and first.fingerprint == again.fingerprint
        and again.chosen == first.chosen
    )
    question = corpus.questions[0].text
    assert first.retrieve(question).ids == again.retrieve(question).ids
    assert (
        first.training_command()
        == again.training_command()
        == f"minirag train {name} CORPUS --encoder lsa --extraction annotations"
    )
    with pytest.raises(NeedsTraining, match="answers only after it"):
        again.answer(question)
    with pytest.raises(MiniragError, match="options.json is missing"):
        METHODS[name].load(own_cache)


def test_the_split_keeps_questions_apart(corpus):
    parts = training.split_questions(corpus)
    ids = [question.id for some in parts.values() for question in some]
    assert sorted(ids) == sorted(q.id for q in corpus.questions if q.answers) and len(
        set(ids)
    ) == len(ids)
    turned = replace(corpus, questions=tuple(reversed(corpus.questions)))
    assert training.split_questions(turned) == parts != training.split_questions(corpus, seed=1)
    twice = replace(
        corpus,
        questions=(
            *corpus.questions,
            Question("z", f"  {corpus.questions[0].text.upper()} ", ("other",)),
        ),
    )
    assert training.split_questions(twice) == parts


def test_too_few_questions_are_told(corpus):
    for questions in ((), corpus.questions[:9], corpus.without_gold().questions):
        with pytest.raises(MiniragError, match="training needs 10 or more"):
            training.split_questions(replace(corpus, questions=questions))


def test_what_is_retrieved_never_depends_on_an_answer(method, corpus):
    lesson = training.corpus_lesson(method, corpus)
    questions = [example.question for example in lesson.parts["train"]]
    assert [replace(example, answer="") for example in lesson.parts["train"]] == method.examples(
        questions
    )
    held = {a for q in training.split_questions(corpus)["test"] for a in q.answers[:1]} - {
        e.answer for e in lesson.parts["train"]
    }
    assert held and not held & set(lesson.words)


def test_answers_of_test_questions_change_no_weight(bundle, method, corpus, tmp_path):
    folder, told, lesson = bundle
    hidden = set(lesson.ids["test"])
    other = replace(
        corpus,
        questions=tuple(
            replace(q, answers=("something else",)) if q.id in hidden else q
            for q in corpus.questions
        ),
    )
    again = training.train(quick(training.corpus_lesson(method, other)), tmp_path)
    assert again["files"] == told["files"] and again["questions"] == told["questions"]
    assert not list(folder.glob("run-*")) and {
        "train",
        "validation",
        "test",
        "majority",
        "majority answer",
    } <= set(told["measured"])


def test_a_bundle_gives_the_same_answers_again(bundle, method, corpus):
    folder, told, lesson = bundle
    opened = GRAG.from_graph(method.graph, encoder="lsa", top=3, trained=folder)
    questions = [example.question for example in lesson.parts["test"]]
    answers = [opened.answer(question) for question in questions]
    one, two = bundles.load(folder), bundles.load(folder)
    assert (
        [answer.text for answer in answers]
        == one.write(lesson.parts["test"], method.encoder)
        == two.write(opened.examples(questions), method.encoder)
    )
    written = "grag, tiny language model ("
    assert answers[0].llm.startswith(written) and answers[0].llm.endswith(
        "M weights, trained on 16 questions of professors)"
    )
    assert answers[0].retrieval == opened.retrieve(questions[0]) and answers[0].prompt_tokens > 2
    spent = opened.writer.ledger.total
    assert spent.calls == len(questions) and opened.llm.ledger.total.calls == 0
    assert spent.prompt_tokens == sum(answer.prompt_tokens for answer in answers)
    assert not [
        path for path in folder.rglob("*") if path.suffix in (".bin", ".pt", ".pkl", ".pickle")
    ]
    assert (
        told["seed"] == 0
        and told["encoder"] == "lsa"
        and told["language"]["tiny"]
        and set(told["questions"]) == set(training.PARTS)
    )


def test_a_bundle_for_something_else_is_refused(bundle, method, corpus):
    folder, _, _ = bundle

    def build(graph=method.graph, encoder="lsa", **choices):
        return GRAG.from_graph(graph, encoder=encoder, trained=folder, **{"top": 3, **choices})

    build()
    with pytest.raises(MiniragError, match="trained with the encoder 'lsa'"):
        build(encoder=encoder())
    for other in (
        {"graph": GRAPH},
        {"hops": 1},
        {"graph": replace(method.graph, edges=method.graph.edges[1:])},
    ):
        with pytest.raises(MiniragError, match="not the corpus, graph and options"):
            build(**other)
    with pytest.raises(MiniragError, match="trained for 'grag', not for 'g-retriever'"):
        RETRIEVER.from_graph(method.graph, encoder="lsa", trained=folder)
    with pytest.raises(MiniragError, match="trained.json is missing"):
        GRAG.from_graph(GRAPH, encoder=encoder(), trained=folder / "nowhere")


def test_broken_bundles_are_refused(bundle, tmp_path):
    def broken(change):
        folder = tmp_path / "broken"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(bundle[0], folder)
        change(folder)
        with pytest.raises(MiniragError) as error:
            bundles.load(folder)
        return str(error.value)

    def told(**changes):
        def change(folder):
            kept = json.loads((folder / bundles.TOLD).read_text())
            (folder / bundles.TOLD).write_text(json.dumps({**kept, **changes}))

        return change

    assert "cannot be read" in broken(lambda folder: (folder / bundles.TOLD).write_text("{"))
    assert "cannot be read" in broken(lambda folder: (folder / bundles.TOLD).write_text("[]"))
    assert "does not say encoder" in broken(
        lambda folder: (folder / bundles.TOLD).write_text(
            json.dumps({k: v for k, v in bundle[1].items() if k != "encoder"})
        )
    )
    assert "weights.safetensors is missing or not" in broken(
        lambda folder: (folder / bundles.WEIGHTS).write_bytes(b"pickle")
    )
    assert "language/model.safetensors" in broken(
        lambda folder: (folder / "language" / "model.safetensors").unlink()
    )
    assert "no weights in safetensors" in broken(told(files={}))
    assert "is damaged" in broken(told(files={**bundle[1]["files"], "../outside": "0"}))
    assert "do not fit" in broken(told(settings={**bundle[1]["settings"], "hidden": 32}))
    assert "other settings" in broken(told(settings={**bundle[1]["settings"], "pruning": "none"}))


def test_of_equal_epochs_the_last_one_is_kept_where_validation_is_tiny(
    method, corpus, tmp_path, monkeypatch
):
    monkeypatch.setattr("minirag.neural.training.accuracy", lambda *_: 0.5)
    lesson = quick(training.corpus_lesson(method, corpus), epochs=2)
    assert (
        lesson.plan.later_wins
        and training.train(lesson, tmp_path / "late")["report"]["best"]["epoch"] == 1
    )
    first = replace(lesson, plan=replace(lesson.plan, later_wins=False))
    assert training.train(first, tmp_path / "early")["report"]["best"]["epoch"] == 0


def test_tuned_language_models_come_back(method, corpus, tmp_path):
    lesson = quick(training.corpus_lesson(method, corpus), alignment_epochs=0, language_rate=1e-2)
    small = replace(
        lesson,
        parts={part: some[:2] for part, some in lesson.parts.items()},
        accepted=lesson.accepted[:2],
    )
    for tuning in ("lora", "full"):
        folder = tmp_path / tuning
        told = training.train(small, folder, tuning=tuning)
        opened = bundles.load(folder)
        base = bundles.LANGUAGE + "/model.safetensors"
        assert told["tuning"] == tuning and base in told["files"]
        assert any(name.startswith("language.") for name in opened.model.own_state())
        assert opened.write(small.parts["test"], method.encoder) == bundles.load(folder).write(
            small.parts["test"], method.encoder
        )


def test_commands_train_and_then_answer(own_cache):
    """Untrained: retrieval and a sentence; trained: an answer that names its writer; a second
    training finds it done.
    """
    there = [
        "professors",
        "Who founded the Lanthorn Trust?",
        "--method",
        "grag",
        "--encoder",
        "lsa",
    ]
    before = run("ask", *there).stdout
    assert (
        "Answer: needs training." in before
        and "minirag train grag professors --encoder lsa --extraction annotations" in before
    )
    assert "1. " in before and "Answer, by" not in before
    said = run("train", "grag", "professors", *QUICK).stdout
    assert (
        "16 to learn from, 4 to choose an epoch, 4 to measure" in said
        and "A toy: 16 questions are far too few" in said
    )
    for row in ("learnt from", "the best epoch", "test, never learnt from", "test, always"):
        assert row in said
    [folder] = (own_cache / "trained").iterdir()
    assert f"Saved in {folder}" in said and "--trained" not in said
    assert (
        "Answer, by grag, tiny" in run(*shlex.split(said.splitlines()[-1])[1:]).stdout
    )  # what the command advises works
    after = run("ask", *there).stdout
    assert "Answer, by grag, tiny language model (" in after and "needs training" not in after
    changed = (folder / bundles.TOLD).stat().st_mtime_ns
    again = run("train", "grag", "professors", *QUICK).stdout
    assert "Trained already" in again and (folder / bundles.TOLD).stat().st_mtime_ns == changed
    assert "needs training" in run("ask", *there, "--extraction", "rules").stdout
    assert "Answer, by grag" in run("ask", *there, "--trained", folder).stdout
    assert "needs training" in run("methods").stdout
    assert "needs training" not in run("ask", *there, "--dry-run").stdout


@pytest.mark.slow
def test_a_stopped_command_goes_on(own_cache, monkeypatch):
    """Interrupted after the first epoch, typed again: the same weights as a run that nobody
    stopped.
    """
    arguments = ["train", "g-retriever", "professors", *QUICK]
    run(*arguments, "--folder", own_cache / "whole")
    epochs, epoch = [], Trainer._epoch
    monkeypatch.setattr(
        Trainer, "_epoch", lambda self, *rest: (epoch(self, *rest), epochs.append(rest[:2]))
    )
    save = Trainer._save
    monkeypatch.setattr(Trainer, "_save", lambda self, *rest: (save(self, *rest), stop())[0])

    def stop():
        if len(epochs) == 1:
            raise KeyboardInterrupt

    stopped = run(*arguments, "--folder", own_cache / "stopped", code=2)
    assert (
        "the same command goes on" in stopped.stderr
        and not (own_cache / "stopped" / bundles.TOLD).exists()
    )
    went_on = run(*arguments, "--folder", own_cache / "stopped")
    assert "it goes on from there" in went_on.stderr and epochs == [
        ("align", 0),
        ("align", 1),
        ("prompt", 0),
    ]
    one, two = (
        json.loads((own_cache / name / bundles.TOLD).read_text()) for name in ("whole", "stopped")
    )
    assert one["files"] == two["files"] and not list((own_cache / "stopped").glob("run-*"))


def test_a_task_is_trained_by_name(own_cache):
    for name in ("grag", "g-retriever"):
        said = run("train", name, "detours", "--questions", "24", *QUICK).stdout
        assert (
            "detours (synthetic, generated with seed 0" in said
            and f"trained/{name}-detours" in said
        )
        told = bundles.read(own_cache / "trained" / f"{name}-detours")
        assert len(told["questions"]["train"]) == 24 and not set(told["questions"]["train"]) & set(
            told["questions"]["test"]
        )
        assert told["settings"]["pruning"] == ("scalar" if name == "grag" else "none")


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["hipporag", "professors"], "no method to train called 'hipporag'"),
        (["grag", "profesors"], "Did you mean 'professors'?"),
        (["grag", "professors", "--tuning", "some"], "no tuning 'some'"),
        (["grag", "professors", "--encoder", "lsaa"], "no encoder"),
        (["grag", "professors", "--follow", "blog"], "'blog'"),
        (["grag", "professors", "--questions", "5"], "is for the tasks"),
        (["grag", "detours", "--extraction", "rules"], "brings its own graphs"),
        (
            ["grag", "professors", *QUICK, "--language-model", "no/such/model"],
            "No causal language model",
        ),
    ],
)
def test_bad_training_is_one_sentence(arguments, says, own_cache):
    assert says in run("train", *arguments, code=2).stderr


def test_texts_without_questions_cannot_train(own_cache, tmp_path):
    (tmp_path / "note.txt").write_text("Ann leads Bob.", encoding="utf-8")
    assert (
        "has 0 questions, 0 of them different and with an answer; training needs 10"
        in run("train", "grag", tmp_path / "note.txt", code=2).stderr
    )


def test_only_what_is_trained_takes_a_trained_model(own_cache):
    assert (
        "is not trained"
        in run(
            "ask", "professors", "Who?", "--method", "bm25", "--trained", own_cache, code=2
        ).stderr
    )
