"""From what somebody typed to a corpus, a language model and a built method."""

import difflib
from contextlib import suppress
from pathlib import Path

from ..core.errors import MiniragError
from ..core.files import cache_folder
from .app import note, one_of
from .models import can_write

RULES = "rules"  # the extraction that is none: the text is read anew


def benchmarks():
    """Names of the published datasets that are corpora with questions."""
    from ..corpora.fetching import DATASETS

    return [name for name, dataset in DATASETS.items() if dataset.file("openie")]


def open_corpus(where):
    """A shipped corpus, a published dataset, or the reader's own folder or file, in this order."""
    from ..corpora.shipped_and_own import list_corpora, load_corpus, read_corpus, read_folder

    path = Path(where).expanduser()
    named = [*list_corpora(), *benchmarks()]
    if where in named:
        if path.exists():
            note(
                f"{where!r} names a corpus of the kit; for the folder of that name write ./{where}"
            )
        if where in list_corpora():
            return load_corpus(where)
        from ..corpora.datasets import load_dataset

        return load_dataset(where)
    if path.exists():
        return read_corpus(path) if (path / "passages.jsonl").is_file() else read_folder(path)
    beside = (
        [each.name for each in path.parent.iterdir() if not each.name.startswith(".")]
        if path.parent.is_dir()
        else []
    )
    near = difflib.get_close_matches(path.name, [*named, *beside], n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise MiniragError(
        f"there is no corpus, folder or file {where!r}.{hint} Give a folder of your own texts, or one of: {', '.join(named)}."
    )


def options_for(name, corpus, extraction, llm):
    """What to hand to a method's `build`: only methods with a graph read triples.

    extraction: a name; RULES lets `llm` read the text; None is the same for a language model, while
    offline the triples that came with the corpus are taken, since the rules read too little for the
    graph to lead anywhere.
    """
    from ..methods import METHODS

    if METHODS[name].graph_type == "none" or extraction == RULES:
        return {}
    if extraction is None:
        return (
            {"extraction": next(iter(corpus.extractions))}
            if corpus.extractions and llm == "offline"
            else {}
        )
    if not corpus.extractions:
        raise MiniragError(
            f"{corpus.name!r} comes without triples: leave --extraction out, and its text is read."
        )
    return {
        "extraction": one_of(
            extraction, [*corpus.extractions, RULES], f"extraction of {corpus.name!r} called"
        )
    }


def open_index(name, corpus, llm, encoder, options):
    """The built method and a sentence on where its index comes from. A cache folder that cannot be
    written costs time, nothing else.

    options: see `options_for`.
    """
    from ..methods import METHODS
    from ..methods.store import open_method

    if not can_write(cache_folder() / "indices"):
        note(
            f"{cache_folder() / 'indices'} cannot be written, so the index will not be kept. Set MINIRAG_CACHE to a folder of your own."
        )
        return METHODS[name].build(corpus, llm=llm, encoder=encoder, **options), "built, not kept"
    method, state = open_method(name, corpus, llm=llm, encoder=encoder, **options)
    if state == "not kept" and not hasattr(method, "save"):
        vectors = method.index_components and method.vectors_are_kept and encoder != "lsa"
        said = "built, which every run does anew"
        return method, said + ", with the vectors that are kept" * bool(vectors)
    said = {"reused": "reused from an earlier run", "kept": "built and kept for the next question"}
    return method, said.get(state, "built, not kept")


def plan_index(name, corpus, spec, llm, encoder, options, **address):
    """The method for a dry run: with the index that the real run would reuse, else built by the dry
    run's model and thrown away.

    Calls and tokens do not depend on the encoder, so the quickest one is taken.
    """
    from ..llm import load_llm
    from ..methods import METHODS
    from ..methods.store import index_folder

    with suppress(
        MiniragError, OSError, ValueError, TypeError, KeyError
    ):  # no key, no index, or a broken one: the real run builds
        folder = index_folder(name, corpus, load_llm(spec, **address).name, encoder, options)
        return METHODS[name].load(folder, llm=llm, encoder="lsa"), "reused from an earlier run"
    return METHODS[name].build(corpus, llm=llm, encoder="lsa", **options), "to be built"
