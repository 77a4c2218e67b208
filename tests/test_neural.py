"""GRAG's model: pruning, graph encoder, soft token, tiny language model, training that survives
being killed.
"""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import build_tiny_model

from minirag.algorithms.ego_graphs import TextualGraph
from minirag.core.errors import MiniragError
from minirag.neural import CODE, ModelOptions, pretraining
from minirag.neural.batches import Collator, Example, TextTable
from minirag.neural.encoder import GraphEncoder, mean_by, softmax_by
from minirag.neural.language_model import LanguageModel, LowRank
from minirag.neural.model import GraphPrompt, accuracy, chosen_device, write_all
from minirag.neural.pretraining import (
    Pretraining,
    build_model,
    build_tokenizer,
    pretrain,
    taught_once,
)
from minirag.neural.soft_pruning import ScalingFactor, SoftPruning, euclidean
from minirag.neural.training import Plan, Trainer, one_cycle, read_checkpoint

torch.set_num_threads(1)


class Letters:
    """An encoder for tests: a random unit vector for each text, the same every time."""

    name = "letters"

    def encode(self, texts, kind="passage"):
        vectors = [
            np.random.default_rng(
                sum(ord(letter) * 31**i for i, letter in enumerate(text)) % 2**32
            ).normal(size=8)
            for text in texts
        ]
        return np.array(
            [vector / np.linalg.norm(vector) for vector in vectors], dtype=np.float32
        ).reshape(len(texts), 8)


STAR = TextualGraph(
    ("Ann", "Bob", "red", "blue"), ((0, "boss", 1), (1, "colour", 2), (0, "colour", 3))
)
LONE = TextualGraph(("Cy",))
EXAMPLES = [
    Example(
        "what is the colour of the boss of Ann ?",
        "red",
        (STAR,),
        "Ann is connected to Bob via boss",
    ),
    Example("what is the colour of Ann ?", "blue", (STAR, LONE)),
    Example("what is the colour of Cy ?", "red", (LONE,)),
    Example("what is it ?", "blue", ()),
]


@pytest.fixture(scope="module")
def table():
    return TextTable.of(EXAMPLES, Letters())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language") / "tiny"
    pretrain(EXAMPLES, ("blue", "red"), Pretraining(steps=60, batch=16, seed=3), folder)
    return folder


def model_of(folder, table, tuning="frozen", **choices):
    torch.manual_seed(0)
    return GraphPrompt(
        LanguageModel.load(folder, tuning=tuning),
        table.dimensions,
        ModelOptions(**{"hidden": 8, **choices}),
    )


def test_a_batch_is_one_disconnected_graph(table):
    batch = Collator(table)(EXAMPLES)
    assert len(batch.nodes) == 4 + 4 + 1 + 1 and len(batch.edges) == 6 and batch.graphs == 4
    assert (
        batch.question_of.tolist() == [0, 1, 1, 2]
        and batch.question_of_edge.tolist() == [0] * 3 + [1] * 3
    )
    assert len(batch.texts) == len({*STAR.nodes, *LONE.nodes, "boss", "colour"})
    assert all(
        batch.graph[head] == batch.graph[tail] for head, tail in zip(batch.heads, batch.tails)
    )


@pytest.mark.paper("GRAG", "eq-5")
def test_every_text_is_encoded_once():
    asked = []

    class Counting(Letters):
        def encode(self, texts, kind="passage"):
            asked.append(list(texts))
            return super().encode(texts, kind)

    TextTable.of(EXAMPLES * 3, Counting())
    assert len(asked) == 1 and len(asked[0]) == len(set(asked[0]))


@pytest.mark.paper("GRAG", "eq-10")
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_softmax_and_mean_by_group_are_those_of_each_group(groups):
    group, rows = torch.tensor(groups), torch.arange(2.0 * len(groups)).view(-1, 2) ** 0.5
    for found, naive in (
        (softmax_by(rows, group, 4), lambda part: part.softmax(0)),
        (mean_by(rows, group, 4)[group], lambda part: part.mean(0).expand_as(part)),
    ):
        for number in set(groups):
            assert torch.allclose(found[group == number], naive(rows[group == number]))


@pytest.mark.paper("GRAG", "eq-9")
@pytest.mark.parametrize("messages", ["both", "along"])
def test_one_layer_is_attention_written_as_a_loop(table, messages):
    torch.manual_seed(1)
    encoder = GraphEncoder(
        table.dimensions, ModelOptions(hidden=5, layers=1, heads=2, messages=messages)
    )
    layer, batch = encoder.layers[0], Collator(table)(EXAMPLES[:1])
    with torch.no_grad():
        layer.direction.normal_()
        scale_n, scale_e = torch.rand(4), torch.rand(3)
        texts = batch.texts * table.dimensions**0.5
        projected = layer.node(texts)[batch.nodes] * scale_n[:, None]
        found = layer(projected, scale_e, texts, batch)
        for node in range(4):
            heads = []
            for k in range(2):
                own, part = projected.view(-1, 2, 5)[:, k], slice(5 * k, 5 * k + 5)
                incoming = [(node, torch.zeros(5), 2)]
                for i, (head, tail) in enumerate(zip(batch.heads.tolist(), batch.tails.tolist())):
                    said = (texts[batch.edges[i]] @ layer.edge.weight.T)[part] * scale_e[i]
                    if tail == node:
                        incoming.append((head, said, 0))
                    if head == node and messages == "both":
                        incoming.append((tail, said, 1))
                logits = [
                    own[u] @ layer.sender[k]
                    + own[node] @ layer.receiver[k]
                    + e @ layer.relation[k]
                    + layer.direction[way, k]
                    for u, e, way in incoming
                ]
                weight = torch.nn.functional.leaky_relu(torch.stack(logits), 0.2).softmax(0)
                heads.append(sum(w * (own[u] + e) for w, (u, e, _) in zip(weight, incoming)))
            assert torch.allclose(found[node], torch.stack(heads).mean(0), atol=1e-5)


def test_the_official_merge_weighs_graphs_by_their_size():
    rows, graph, question_of = (
        torch.tensor([[1.0], [0.0], [0.0], [0.0]]),
        torch.tensor([0, 1, 1, 1]),
        torch.tensor([0, 0]),
    )
    assert mean_by(mean_by(rows, graph, 2), question_of, 1).item() == 0.5
    assert mean_by(rows, question_of[graph], 1).item() == 0.25


@pytest.mark.parametrize("merge", ["graphs", "nodes"])
def test_other_questions_of_a_batch_change_nothing(table, merge):
    torch.manual_seed(0)
    encoder, prune, collate = (
        GraphEncoder(table.dimensions, ModelOptions(hidden=8, merge=merge)),
        SoftPruning(table.dimensions),
        Collator(table),
    )
    together = collate(EXAMPLES)
    one_by_one = [
        encoder(batch, prune(batch)) for batch in (collate([example]) for example in EXAMPLES)
    ]
    assert torch.allclose(encoder(together, prune(together)), torch.cat(one_by_one), atol=1e-5)


def test_numbering_the_nodes_otherwise_changes_nothing(table):
    torch.manual_seed(0)
    encoder, collate = GraphEncoder(table.dimensions, ModelOptions(hidden=8)), Collator(table)
    turned = Example(EXAMPLES[0].question, "red", (STAR.subgraph([3, 1, 0, 2]),))
    assert torch.allclose(encoder(collate(EXAMPLES[:1])), encoder(collate([turned])), atol=1e-5)


def test_no_factors_are_factors_of_one(table):
    encoder, batch = (
        GraphEncoder(table.dimensions, ModelOptions(hidden=8)),
        Collator(table)(EXAMPLES),
    )
    assert torch.equal(
        encoder(batch), encoder(batch, (torch.ones(len(batch.nodes)), torch.ones(len(batch.edges))))
    )


def test_without_pruning_only_the_control_hears_the_question(table):
    asked = [
        Example(question, "red", (STAR,))
        for question in (EXAMPLES[0].question, EXAMPLES[1].question)
    ]
    batch = Collator(table)(asked)
    for sees in (False, True):
        torch.manual_seed(0)
        pooled = GraphEncoder(table.dimensions, ModelOptions(hidden=8, sees_question=sees))(batch)
        assert torch.allclose(pooled[0], pooled[1], atol=1e-5) is not sees


def test_a_pruned_edge_says_nothing_and_a_pruned_node_sends_nothing(table):
    """With factor 0 the text of an edge, or of a node, no longer matters. Source: GRAG, Eq. 9
    (eq-9)
    """
    torch.manual_seed(0)
    encoder, collate = (
        GraphEncoder(table.dimensions, ModelOptions(hidden=8, layers=1)),
        Collator(table),
    )
    other = TextualGraph(
        ("Ann", "Bob", "red", "Cy"), ((0, "colour", 1), (1, "colour", 2), (0, "colour", 3))
    )
    batches = [collate([Example(EXAMPLES[0].question, "red", (graph,))]) for graph in (STAR, other)]
    kept, pruned = torch.ones(4), (torch.tensor([1.0, 1, 1, 0]), torch.tensor([0.0, 1, 1]))
    assert torch.allclose(*(encoder(batch, pruned) for batch in batches), atol=1e-6)
    assert not torch.allclose(
        *(encoder(batch, (kept, torch.ones(3))) for batch in batches), atol=1e-3
    )


def test_normalisation_undoes_the_pruning_of_a_node_without_edges():
    alone = TextualGraph(("Selm",), ())
    batch = Collator(TextTable.of([Example("Where?", "", (alone,))], Letters()))(
        [Example("Where?", "", (alone,))]
    )
    for seed in range(3):
        torch.manual_seed(seed)
        encoder = GraphEncoder(8, ModelOptions(hidden=32)).eval()
        whole, pruned = (
            encoder(batch, (torch.tensor([factor]), torch.zeros(0))) for factor in (1.0, 0.01)
        )
        assert torch.cosine_similarity(whole, pruned) > 0.8


@pytest.mark.paper("GRAG", "eq-6")
def test_distances_of_the_paper_and_of_the_code():
    """Scalar Euclidean distance in the text, element by element in the code. Source: GRAG, Eq. 6
    (eq-6)
    """
    text, asked = torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 4.0]])
    assert euclidean(text, asked).item() == 5
    scalar, elementwise = ScalingFactor(2), ScalingFactor(2, "elementwise")
    assert scalar.mlp[0].in_features == 1 and elementwise.mlp[0].in_features == 2
    assert (
        torch.equal(scalar(text, asked), scalar(asked, text)) and 0 < scalar(text, asked).item() < 1
    )
    swapped = (
        torch.tensor([[0.0, 3.0]]),
        torch.tensor([[4.0, 0.0]]),
    )  # the same length, other coordinates
    assert torch.equal(scalar(text, asked), scalar(*swapped)) and not torch.equal(
        elementwise(text, asked), elementwise(*swapped)
    )
    assert torch.equal(
        scalar(text, asked), torch.sigmoid(ScalingFactorWithout(scalar)(text, asked))
    )


def ScalingFactorWithout(factor):
    """The same factor without its sigmoid, as the paper writes it."""
    plain = ScalingFactor(2, squash=False)
    plain.load_state_dict(factor.state_dict())
    return plain


@pytest.mark.paper("GRAG", "eq-11")
def test_gradients_reach_both_pruning_mlps_through_the_frozen_language_model(folder, table):
    """Source: GRAG, Eq. 6 (eq-6); GRAG, Eq. 11 (eq-11)"""
    model, collate = model_of(folder, table), Collator(table)
    model.pruning.fit([collate(EXAMPLES)])
    model.loss(EXAMPLES, collate(EXAMPLES)).backward()
    for part in (model.pruning.node, model.pruning.edge, model.encoder, model.projector):
        assert any(
            parameter.grad is not None and parameter.grad.abs().sum() > 0
            for parameter in part.parameters()
        )
    assert all(parameter.grad is None for parameter in model.language.parameters())


def test_the_official_layers_leave_the_mlp_of_edges_without_gradient(folder, table):
    model, collate = model_of(folder, table, **CODE), Collator(table)
    model.loss(EXAMPLES, collate(EXAMPLES)).backward()
    assert all(
        parameter.grad is None or not parameter.grad.any()
        for parameter in model.pruning.edge.parameters()
    )
    assert any(
        parameter.grad is not None and parameter.grad.any()
        for parameter in model.pruning.node.parameters()
    )


def test_settings_follow_paper_or_code():
    assert (
        ModelOptions.of() == ModelOptions()
        and ModelOptions.of("code").pruning == "elementwise"
        and not ModelOptions.of("code").edges_in_messages
    )
    assert ModelOptions.of("code", pruning="scalar").pruning == "scalar"
    for wrong in (
        {"follow": "blog"},
        {"pruning": "hard"},
        {"merge": "all"},
        {"messages": "against"},
    ):
        with pytest.raises(MiniragError, match="expected"):
            ModelOptions.of(**wrong)


@pytest.mark.paper("GRAG", "eq-10")
def test_a_token_is_as_long_as_a_word(folder, table):
    model, collate = model_of(folder, table), Collator(table)
    token = model.token(collate(EXAMPLES))
    assert token.shape == (4, model.language.dimensions)
    assert torch.allclose(token.norm(dim=1), model.language.word_length().expand(4), rtol=1e-4)
    assert model_of(folder, table, graph_token="none").token(collate(EXAMPLES)) is None
    constant = model_of(folder, table, graph_token="constant").token(collate(EXAMPLES))
    assert torch.equal(constant[0], constant[3])


@pytest.mark.paper("GRAG", "eq-7", "eq-8")
def test_the_prompt_is_start_token_text_question_answer(folder, table):
    """Source: GRAG, Eq. 7-8 (eq-7, eq-8)"""
    language = LanguageModel.load(folder)
    prompt, answer = language.prompt_ids(EXAMPLES[0]), language.answer_ids("red")
    inputs, mask, labels = language.read(
        [prompt, prompt[-3:]], [answer, answer], torch.full((2, language.dimensions), 7.0)
    )
    assert (
        torch.equal(inputs[0, 0], language.embeddings.weight[language.start])
        and (inputs[0, 1] == 7).all()
    )
    assert (
        mask.sum(1).tolist() == [2 + len(prompt) + len(answer), 2 + 3 + len(answer)]
        and mask[1, -1] == 1
    )
    assert [row[row >= 0].tolist() for row in labels] == [answer, answer]
    assert language.tokenizer.decode(prompt).startswith(
        "Ann is connected to Bob via boss\n"
    ) and language.tokenizer.decode(prompt).endswith("answer:")
    long = Example("q", "red", (), "word " * 2000)
    assert len(language.prompt_ids(long)) <= language.max_text + 10


def test_padding_changes_no_answer(folder, table):
    model, collate = model_of(folder, table), Collator(table)
    together = write_all(model, collate, EXAMPLES)
    assert together == [write_all(model, collate, [example])[0] for example in EXAMPLES]


def test_a_tiny_model_learns_to_read_the_word_in_the_token_place(folder):
    language = LanguageModel.load(folder)
    vectors = (
        torch.nn.functional.normalize(language.answer_vectors(["red", "blue", "red"]), dim=1)
        * language.word_length()
    )
    assert language.write([language.prompt_ids(EXAMPLES[2])] * 3, vectors) == ["red", "blue", "red"]


def test_pretraining_never_sees_an_answer(tmp_path):
    mislabelled = [Example(e.question, "gold", e.graphs, e.text) for e in EXAMPLES]
    one, two = (
        pretrain(some, ("blue", "red"), Pretraining(steps=3, batch=4))
        for some in (EXAMPLES, mislabelled)
    )
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters()))


def test_a_tiny_model_is_taught_once_and_never_left_half_taught(tmp_path, monkeypatch):
    folder, plan, asked = tmp_path / "models" / "tiny", Pretraining(steps=3, batch=4), []

    def stopped_while_writing(examples, answers, plan, folder):
        folder.mkdir()
        (folder / "config.json").write_text("{")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pretraining, "pretrain", stopped_while_writing)
        taught_once(folder, lambda: EXAMPLES, ("blue", "red"), plan)
    assert not folder.exists()

    weights = [
        taught_once(folder, lambda: asked.append("examples") or EXAMPLES, ("blue", "red"), plan)
        / "model.safetensors"
        for _ in range(2)
    ]
    assert asked == ["examples"] and weights[0].is_file()
    assert {path.name for path in folder.parent.iterdir()} <= {"tiny", "tiny.lock"}


def test_only_what_should_change_changes(folder, table):
    collate = Collator(table)
    for tuning, trained in (("frozen", set()), ("lora", {"down", "up"})):
        model = model_of(folder, table, tuning)
        before = {name: tensor.clone() for name, tensor in model.language.state_dict().items()}
        Trainer(
            model, collate, Plan(alignment_epochs=1, epochs=2, batch=2, language_rate=1e-2)
        ).fit(EXAMPLES, EXAMPLES)
        changed = {
            name.rsplit(".", 1)[-1]
            for name, tensor in model.language.state_dict().items()
            if not torch.equal(tensor, before[name])
        }
        assert changed == trained


@pytest.mark.paper("GRAG", "sec-A.1")
def test_low_rank_starts_as_the_layer_itself():
    torch.manual_seed(0)
    linear = torch.nn.Linear(6, 4)
    states = torch.rand(3, 6)
    low = LowRank(linear, rank=2).eval()
    assert torch.equal(low(states), linear(states))
    low.up.data.normal_()
    full = linear.weight + low.scale * low.up @ low.down
    assert torch.allclose(
        low(states), torch.nn.functional.linear(states, full, linear.bias), atol=1e-5
    )


def test_any_hugging_face_model_will_do(tmp_path, table):
    """A model with another architecture and no start token: it is given its end token instead."""
    import transformers

    llama = LanguageModel.load(build_tiny_model(tmp_path / "llama"))
    gpt = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=len(llama.tokenizer),
            n_embd=16,
            n_layer=1,
            n_head=2,
            bos_token_id=0,
            eos_token_id=0,
        )
    )
    for language in (llama, LanguageModel(gpt, llama.tokenizer)):
        model = GraphPrompt(language, table.dimensions, ModelOptions(hidden=8))
        report = Trainer(model, Collator(table), Plan(alignment_epochs=1, epochs=1, batch=2)).fit(
            EXAMPLES, EXAMPLES
        )
        assert len(report.history) == 2 and all(np.isfinite(row["loss"]) for row in report.history)
        assert len(write_all(model, Collator(table), EXAMPLES)) == 4
    with pytest.raises(MiniragError, match="q_proj"):
        LanguageModel(gpt, llama.tokenizer, tuning="lora")
    with pytest.raises(MiniragError, match="could be loaded"):
        LanguageModel.load(tmp_path / "nothing")


def test_it_can_learn_four_questions_by_heart(folder, table):
    """A check that training trains: without a graph token the last two questions cannot be told
    apart from the prompt alone by so small a model.
    """
    model, collate = model_of(folder, table), Collator(table)
    Trainer(
        model,
        collate,
        Plan(alignment_epochs=40, epochs=10, batch=4, alignment_rate=1e-2, rate=5e-3, patience=20),
    ).fit(EXAMPLES, EXAMPLES)
    assert accuracy(model, collate, EXAMPLES) == 1.0


PLAN = Plan(alignment_epochs=2, epochs=3, batch=2, rate=1e-2, patience=9, device="cpu")


def weights(model):
    return {
        name: tensor
        for name, tensor in model.state_dict().items()
        if not name.startswith("language.")
    }


def test_a_run_that_stops_and_goes_on_ends_at_the_same_weights(folder, table, tmp_path):
    whole = model_of(folder, table, dropout=0.2)
    report = Trainer(whole, Collator(table), PLAN).fit(EXAMPLES, EXAMPLES)
    for stop in (1, 2, 4):
        place = tmp_path / str(stop)
        Trainer(model_of(folder, table, dropout=0.2), Collator(table), PLAN, place).fit(
            EXAMPLES, EXAMPLES, until=stop
        )
        resumed = model_of(folder, table, dropout=0.2)
        torch.manual_seed(99)  # nothing may hang on what was drawn before
        again = Trainer(resumed, Collator(table), PLAN, place).fit(EXAMPLES, EXAMPLES)
        assert all(
            torch.equal(tensor, weights(resumed)[name]) for name, tensor in weights(whole).items()
        )
        assert [row["loss"] for row in again.history] == [
            row["loss"] for row in report.history
        ] and again.best == report.best


KILLED = """
    import sys, os, signal
    sys.path.insert(0, {tests!r})
    from test_neural import *
    from minirag.neural import training
    table = TextTable.of(EXAMPLES, Letters())
    steps = 0
    original = training.Trainer._step
    def step(self, *given):
        global steps
        steps += 1
        if steps == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        original(self, *given)
    training.Trainer._step = step
    Trainer(model_of({folder!r}, table), Collator(table), PLAN, {place!r}).fit(EXAMPLES, EXAMPLES)
"""


@pytest.mark.slow
def test_a_run_killed_in_the_middle_of_an_epoch_resumes_to_the_same_weights(
    folder, table, tmp_path
):
    place = tmp_path / "run"
    script = textwrap.dedent(
        KILLED.format(tests=str(Path(__file__).parent), folder=str(folder), place=str(place))
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]
    assert (
        read_checkpoint(place / "training.safetensors")[0]["done"] == 3
    )  # seven steps of two an epoch: three epochs are safe, the fourth is lost
    resumed, whole = model_of(folder, table), model_of(folder, table)
    Trainer(resumed, Collator(table), PLAN, place).fit(EXAMPLES, EXAMPLES)
    Trainer(whole, Collator(table), PLAN).fit(EXAMPLES, EXAMPLES)
    assert all(
        torch.equal(tensor, weights(resumed)[name]) for name, tensor in weights(whole).items()
    )


def test_a_checkpoint_of_another_run_or_a_damaged_one_is_refused(folder, table, tmp_path):
    Trainer(model_of(folder, table), Collator(table), PLAN, tmp_path).fit(
        EXAMPLES, EXAMPLES, until=1
    )
    with pytest.raises(MiniragError, match="other settings or examples"):
        Trainer(model_of(folder, table, pruning="none"), Collator(table), PLAN, tmp_path).fit(
            EXAMPLES, EXAMPLES
        )
    path = tmp_path / "training.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(MiniragError, match="no checkpoint"):
        Trainer(model_of(folder, table), Collator(table), PLAN, tmp_path).fit(EXAMPLES, EXAMPLES)


def test_early_stop_keeps_the_best_epoch(folder, table, monkeypatch):
    scores = iter([0.5, 0.9, 0.4, 0.3, 0.2, 0.1])
    monkeypatch.setattr("minirag.neural.training.accuracy", lambda *_: next(scores))
    report = Trainer(
        model_of(folder, table),
        Collator(table),
        Plan(alignment_epochs=0, epochs=6, batch=2, patience=2),
    ).fit(EXAMPLES, EXAMPLES)
    assert report.best == {"epoch": 1, "accuracy": 0.9} and len(report.history) == 4


@pytest.mark.paper("GRAG", "sec-A.1")
def test_the_learning_rate_rises_and_falls():
    values = [one_cycle(share / 100) for share in range(101)]
    assert (
        values[0] < 0.2
        and max(values) == values[10] == 1
        and values[100] < 1e-9
        and values[10:] == sorted(values[10:], reverse=True)
    )


def test_nothing_to_train_on_is_said(folder, table):
    with pytest.raises(MiniragError, match="nothing to train on"):
        Trainer(model_of(folder, table), Collator(table)).fit([], [])
    with pytest.raises(MiniragError, match="empty"):
        pretrain([], ("red",))
    with pytest.raises(MiniragError, match="no text"):
        TextTable([], Letters())
    with pytest.raises(MiniragError, match="no option 'colour'"):
        ModelOptions.of(colour="red")
    with pytest.raises(MiniragError, match="layers=0: expected a whole number from 1"):
        ModelOptions(layers=0)
    with pytest.raises(MiniragError, match="batch and patience from 1"):
        Plan(batch=0)
    for device in ("gpu", "cuda:99"):
        with pytest.raises(MiniragError, match="cannot be used here"):
            chosen_device(device)
    with pytest.raises(MiniragError, match="size is one of"):
        build_model(build_tokenizer(["a"]), "huge")


@pytest.mark.parametrize("steps", [1, 9, 10, 11])
def test_a_language_model_is_taught_for_any_number_of_steps(steps):
    assert pretrain(
        EXAMPLES, ("blue", "red"), Pretraining(steps=steps, batch=2, batch_with_text=2)
    ).write([[5]], None)
