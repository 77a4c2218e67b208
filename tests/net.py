"""What every method finds, reads and asks, so that two states of the code can be compared.

    python tests/net.py before.jsonl [--only REGEX]
    python tests/net.py --compare before.jsonl after.jsonl

A line is a build, or a question: ranked ids, scores, and hashes of the context, of every prompt
with its reply, and of the answer. An error is recorded as its text. Beside the offline rules stands
`Scripted`, which picks words of the prompt by the prompt's hash: no judgement. `--compact FOLDER`
also writes a short line a setting, as in `tests/recorded/net_*.json`. Traces are not read.
Published data are recorded where MINIRAG_DATA holds them.
"""

import argparse
import hashlib
import importlib
import json
import math
import os
import re
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass, replace
from functools import partial
from pathlib import Path

import net_settings as settings
import platformdirs

import minirag as mr

K = 10
SAME = 1e-9  # relative difference of two scores that count as equal
ROUGHLY = 1e-5  # the same for the sums in a compact recording, which another machine may check
SHIPPED, PUBLISHED = "shipped", "published"


def find(name, *modules):
    """A name that `minirag` does not export, from the first of these modules that has it."""
    for module in modules:
        try:
            return getattr(importlib.import_module(f"minirag.{module}"), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"{name} is in none of {', '.join(modules)}: name its new module here.")


def digest(value):
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=_plain)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _plain(value):
    return asdict(value) if is_dataclass(value) else value.item()  # a number of numpy


class Rules(type(mr.load_llm("offline"))):
    """The offline rules; `asked` keeps a hash of every prompt and its reply."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def complete(self, task, messages, fields):
        completion = self.reply(task, messages, fields)
        self.asked.append(digest([task.name, task.sample, messages, completion.text]))
        return completion

    def reply(self, task, messages, fields):
        return super().complete(task, messages, fields)


class Scripted(Rules):
    """Answers questions with words of the prompt, picked by its hash; reads texts by the rules."""

    name = "scripted replies"
    is_model = True

    def reply(self, task, messages, fields):
        if task.stage in ("build", "index") and task.rule:
            return super().reply(task, messages, fields)
        number = int(digest([task.name, task.sample, messages]), 16)
        prompt = messages[-1]["content"]
        words = re.findall(r"[A-Z]\w{3,}", prompt) or re.findall(r"\w+", prompt) or ["nothing"]
        picked = [words[number // 7**place % len(words)] for place in range(4)]
        text = settings.scripted_reply(task.name, number, picked)
        return find("Completion", "llm.base", "llm")(text, len(prompt), len(text))


@contextmanager
def own_cache():
    """Share the vectors of MINIRAG_CACHE, but no index and no trained model of an earlier run."""
    before = os.environ.get("MINIRAG_CACHE")
    vectors = Path(before or platformdirs.user_cache_dir("minirag")).resolve() / "embeddings"
    vectors.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "embeddings").symlink_to(vectors)
        os.environ["MINIRAG_CACHE"] = folder
        try:
            yield Path(folder)
        finally:
            os.environ.pop("MINIRAG_CACHE")
            os.environ |= {"MINIRAG_CACHE": before} if before else {}


def watch(llm, run):
    """`(value, line)` of a call: how much was asked, what, and the error that ended it."""
    llm.asked.clear()
    value, line = None, {}
    try:
        value = run()
    except Exception as error:
        line["error"] = f"{type(error).__name__}: {error}"
    return value, line | {"prompts": len(llm.asked), "asked": digest(llm.asked)}


def found(retrieval, prefix=""):
    scores = [float(f"{passage.score:.10g}") for passage in retrieval.passages]
    return {f"{prefix}ids": list(retrieval.ids), f"{prefix}scores": scores}


def context(method, retrieval):
    """The texts that the reader, or a trained model, is given."""
    if hasattr(method, "examples"):
        return [example.text for example in method.examples([retrieval.question])]
    sections, _ = method.context(retrieval)
    return [text for section in sections.values() for text in section]


def record(key, build, llm, questions, answer_every, task=None):
    """Lines of one setting: its build, all its questions at once, each question's answer."""
    method, line = watch(llm, build)
    graphs = ("hippocampal_index", "textual_graph", "graph")
    graph = next((getattr(method, name) for name in graphs if hasattr(method, name)), None)
    size = {"nodes": len(graph.nodes), "edges": len(graph.edges)} if graph is not None else {}
    yield {"key": f"{key} | build", **line, **size}
    if method is None:
        return
    texts = [question.text for question in questions]
    together, line = watch(llm, lambda: method.retrieve_many(texts, k=K))
    yield {"key": f"{key} | retrieve_many", **line}
    for place, question in enumerate(questions):
        line = {"key": f"{key} | {question.id}"}
        if together:
            retrieval = together[place]
            texts, told = watch(llm, partial(context, method, retrieval))
            line |= {**found(retrieval), "context": told.get("error") or digest(texts)}
        if place % answer_every == 0:
            answer, told = watch(llm, partial(method.answer, question.text, k=K, task=task))
            line |= told
            if answer:
                tokens = [answer.prompt_tokens, answer.completion_tokens]
                line |= {"answer": digest(answer.text), "tokens": tokens}
                line |= found(answer.retrieval, "answer ")
        yield line


def settings_of(name, source, questions):
    """`(key, part)` of every setting over one corpus, or graph; `part()` gives its lines.

    source: a Corpus, or Microsoft's index. What `with_options` varies is built once.
    """
    built, llms = {}, {"rules": Rules(), "scripted": Scripted()}

    def build(setting):
        key = setting.method, setting.llm, repr(setting.build)
        if key not in built:
            built.clear()  # a method's variations follow it
            built[key] = settings.opened(setting.method, source, llms[setting.llm], setting.build)
        return built[key].with_options(**setting.vary) if setting.vary else built[key]

    for setting in settings.of(name):
        plain = setting.plain
        asked = questions if plain or name != settings.LARGEST else questions[::2]
        llm, every = llms[setting.llm], 3 if plain else 8
        yield (
            f"{name} | {setting}",
            partial(
                record,
                build=partial(build, setting),
                llm=llm,
                questions=asked,
                answer_every=every,
                task=setting.task,
            ),
        )


def trained(key):
    """GRAG and G-Retriever taught for a moment, and what they then answer."""
    lesson_of = find("corpus_lesson", "evaluate.training", "neural.lessons")
    train = find("train", "evaluate.training", "neural.lessons")
    corpus = mr.load_corpus("professors")
    for name in ("grag", "g-retriever"):
        options = {"encoder": "lsa", "extraction": "annotations"}
        method = mr.METHODS[name].build(corpus, **options)
        lesson = lesson_of(method, corpus)
        plan = replace(lesson.plan, alignment_epochs=1, epochs=1, device="cpu")
        short = replace(lesson.pretraining, steps=20)
        with tempfile.TemporaryDirectory() as folder:
            train(replace(lesson, plan=plan, pretraining=short), folder)
            taught = mr.METHODS[name].build(corpus, trained=folder, **options)
            for question in corpus.questions[:6]:
                answer = taught.answer(question.text, k=K)
                line = {"answer": digest(answer.text), **found(answer.retrieval)}
                yield {"key": f"{key} | {name} | {question.id}", **line}


def generated(key):
    """The questions of the generated task `detours`."""
    task = find("detours", "detours", "corpora.detours")(train=50, validation=10, test=10)
    yield {"key": f"{key} | all", "task": digest([task.train, task.validation, task.test])}


def expla_graphs(key):
    """The questions of ExplaGraphs, as the paper and as the code splits and asks them."""
    load = find("load_expla_graphs", "expla_graphs", "corpora.expla_graphs")
    for follow in ("paper", "code"):
        task = load(follow=follow)
        parts = {part: digest(getattr(task, part)) for part in ("train", "validation", "test")}
        yield {"key": f"{key} | {follow}", **parts}


def reproduced(key):
    """The rows of a target of `mr.reproduce_table`."""
    target = key.split()[-1]
    for row in mr.reproduce_table(target)["rows"]:
        yield {"key": f"{key} | {row['method']}", "row": row}


def musique():
    corpus = mr.load_dataset("musique_train")
    return settings_of("musique_train", corpus, corpus.questions[::10])


def dulce():
    load = find("load_dulce", "microsoft_index", "corpora.microsoft_index")
    rows = Path(__file__).parents[1] / "data" / "questions_dulce.jsonl"
    asked = [json.loads(row) for row in rows.read_text(encoding="utf-8").splitlines()[:4]]
    question = type(mr.load_corpus("professors").questions[0])
    return settings_of("dulce", load(), [question(row["id"], row["question"]) for row in asked])


def parts(kind):
    """`(key, part)` of everything of a kind; `part(key)` gives its lines."""
    if kind == SHIPPED:
        for name in mr.list_corpora():
            corpus = mr.load_corpus(name)
            if "annotations" in corpus.extractions:  # which `of_shipped` names
                yield from settings_of(name, corpus, corpus.questions)
        yield from (("professors | trained", trained), ("detours | generated", generated))
        yield "reproduce professors", reproduced
        return
    for name, found_parts in (("musique_train", musique), ("dulce", dulce)):
        yield from found_parts() if available(name) else ()
    yield from [("expla_graphs | read", expla_graphs)] if available("expla_graphs") else ()
    yield from [("reproduce dulce", reproduced)] if available("dulce") else ()


def available(name):
    here = find("available", "fetching", "corpora.fetching")(name)
    if not here:
        print(f"{name} is not in MINIRAG_DATA: left out", file=sys.stderr)
    return here


def lines(kind, only="", tell=None):
    """Every line of a kind, those whose setting matches `only`; `tell` hears how long each took."""
    with own_cache():
        for key, part in parts(kind):
            if re.search(only, key):
                start = time.process_time()
                yield from part(key)
                if tell:
                    tell(f"{time.process_time() - start:6.2f} s  {key}")


def compact(recorded):
    """`{setting: [weighted sum of its scores, hashes of its lines without them]}`."""
    short = {}
    for line in recorded:
        setting, _, _ = line["key"].rpartition(" | ")
        scores = [*line.get("scores", ()), *line.get("answer scores", ())]
        rest = {name: value for name, value in line.items() if not name.endswith("scores")}
        row = short.setdefault(setting, [0.0, ""])
        row[0] += sum(score / place for place, score in enumerate(scores, start=1))
        row[1] += digest(rest)[:6]
    return {key: [float(f"{total:.6g}"), hashes] for key, (total, hashes) in short.items()}


def close(old, new, tolerance):
    """Whether two values are equal, but for floats that differ by no more than `tolerance`."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=tolerance, abs_tol=1e-15)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(close(a, b, tolerance) for a, b in zip(old, new))
    return old == new


def differences(old, new, tolerance=SAME):
    """A sentence for every key of two dicts whose values differ."""
    for key in [*old, *(key for key in new if key not in old)]:
        if key not in old or key not in new:
            yield f"{key}: only in the {'second' if key not in old else 'first'}"
        elif isinstance(old[key], dict) and isinstance(new[key], dict):
            yield from (f"{key}: {each}" for each in differences(old[key], new[key], tolerance))
        elif not close(old[key], new[key], tolerance):
            yield f"{key}: {str(old[key])[:160]} became {str(new[key])[:160]}"


def read(path):
    rows = map(json.loads, Path(path).read_text(encoding="utf-8").splitlines())
    return {row.pop("key"): row for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", nargs="?", help="the JSON-lines file to write")
    parser.add_argument("--only", default="", help="settings whose key matches this expression")
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"))
    parser.add_argument("--compact", metavar="FOLDER", help="also write net_KIND.json there")
    asked = parser.parse_args()
    if asked.compare:
        told = list(differences(*map(read, asked.compare)))
        print(*told, f"{len(told)} differences", sep="\n")
        sys.exit(bool(told))
    with open(asked.out, "w", encoding="utf-8") as file:
        for kind in (SHIPPED, PUBLISHED):
            recorded = []
            for line in lines(kind, asked.only, print):
                file.write(json.dumps(line, sort_keys=True, ensure_ascii=False) + "\n")
                recorded.append(line)
            if asked.compact:
                text = json.dumps(compact(recorded), indent=0, ensure_ascii=False)
                (Path(asked.compact) / f"net_{kind}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
