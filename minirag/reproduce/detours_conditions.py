"""GRAG, its ablations and what it is compared with, on the synthetic task `detours`: what each
model sees, and how the small ones are trained.

The training plan was chosen on `detours(seed=1)`; the reported task has seed 0, and the seeds of
the models were fixed before any reported run.
"""

from functools import cache, partial
from pathlib import Path

from ..corpora.detours import detours
from ..encoders.text_encoders import load_encoder
from ..neural import CODE
from ..neural.pretraining import Pretraining
from ..neural.training import Plan
from .graph_prompts import Bench, Condition, run_all, table_of

SEEDS = (0, 1, 2)
SMALL, NO_TOKEN, UNPRUNED = (
    {"hidden": 32},
    {"graph_token": "none"},
    {"hidden": 32, "pruning": "none"},
)
PRETRAINING = Pretraining(steps=400, with_text=0.2, keyword=0.9, answer_weight=5.0)
PLAN = Plan(
    alignment_epochs=6,
    alignment_rate=3e-3,
    epochs=1,
    rate=5e-4,
    language_rate=2e-3,
    batch=32,
    weight_decay=0.05,
)

# GRAG, Table 3: each leaves one thing out. What has no graph token cannot be helped by a frozen
# tiny model, so its language model is tuned.
ABLATIONS = (
    Condition("GRAG", "named", text="description", settings=SMALL),
    Condition("w/o soft pruning", "named", text="description", settings=UNPRUNED),
    Condition("w/o graph descriptions", "named", settings=SMALL),
    Condition("w/o graph encoder", "named", text="description", settings=NO_TOKEN, tuning="lora"),
    Condition("w/o retrieval", "none", settings=NO_TOKEN, tuning="lora"),
)
OTHERS = (
    Condition("LM only", "none", settings=NO_TOKEN),
    Condition("LM, hard prompt", "named", text="description", settings=NO_TOKEN),
    Condition("constant token", "named", settings={"graph_token": "constant"}),
    Condition("graph token, unpruned", "named", settings=UNPRUNED),
    Condition(
        "graph token, unpruned, question added",
        "named",
        settings={**UNPRUNED, "sees_question": True},
    ),
    Condition(
        "graph token, elementwise distance", "named", settings={**SMALL, "pruning": "elementwise"}
    ),
    Condition("graph token, pruned at the input", "named", settings={**SMALL, "prune_at": "input"}),
    Condition(
        "graph token, edges ignored", "named", settings={**SMALL, "edges_in_messages": False}
    ),
    Condition(
        "graph token, messages along the edges only",
        "named",
        settings={**SMALL, "messages": "along"},
    ),
    Condition("graph token as in the code", "named", settings={**SMALL, **CODE}),
    Condition(
        "graph token, no warm-up",
        "named",
        settings=SMALL,
        plan={"alignment_epochs": 0, "epochs": 7, "rate": 3e-3},
    ),
    Condition("graph token, whole graph", "whole", settings=SMALL),
    Condition("graph token, linked and Eq. 4, N = 3", "linked", top=3, settings=SMALL),
    Condition("graph token, larger LM", "named", size="small", settings=SMALL),
    Condition("G-Retriever, graph token", "steiner", settings=UNPRUNED),
    Condition("G-Retriever, graph token, pruned", "steiner", settings=SMALL),
    Condition(
        "w/o graph encoder, LM fine-tuned for 4 epochs",
        "named",
        text="description",
        settings=NO_TOKEN,
        tuning="full",
        plan={"epochs": 4},
    ),
)
# GRAG, Figure 3: how many ego-graphs of how many hops, ranked by Eq. 4.
SWEEP = tuple(
    Condition(f"graph token, Eq. 4, k = {k}, N = {n}", "ego", top=n, hops=k, settings=SMALL)
    for k in (1, 2)
    for n in (1, 3, 5, 10)
)
# GRAG, Table 5 and Figure 4: single nodes and edges as text, for a tuned language model, and beside
# a graph token.
FLAT = tuple(
    Condition(f"{name} top-{k}, LoRA", how, top=k, text="flat", settings=NO_TOKEN, tuning="lora")
    for name, how in (("BM25", "bm25"), ("MiniLM", "dense")) for k in (3, 5, 10)
)  # fmt: skip
BOTH = (
    Condition(
        "graph token with MiniLM top-5 as text",
        "named",
        top=5,
        text="flat",
        text_from="dense",
        settings=SMALL,
    ),
)
CONDITIONS = ABLATIONS + OTHERS + SWEEP + FLAT + BOTH


@cache
def make_bench(folder, encoder="minilm", seed=0):
    """The bench of the task with this seed; `folder` keeps the tiny language models."""
    task = detours(seed=seed)
    table = table_of([*task.train, *task.validation, *task.test], load_encoder(encoder))
    return Bench(task, table, Path(folder), PRETRAINING, PLAN, ABLATIONS[:1])


def measure_conditions(folder, names=None, encoder="minilm", seeds=None, jobs=None):
    """The runs of `run_all` for these conditions, by default the ablations.

    Source: GRAG, Table 3 (tab-3); GRAG, Fig. 3 (fig-3); GRAG, Fig. 4 (fig-4); GRAG, Table 5 (tab-5)
    """
    chosen = [
        condition
        for condition in CONDITIONS
        if condition.name in (names or [one.name for one in ABLATIONS])
    ]
    bench = partial(make_bench, str(folder), encoder)
    return run_all([(bench, condition) for condition in chosen], seeds or SEEDS, jobs)[0]
