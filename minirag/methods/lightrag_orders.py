"""In which order LightRAG's codes take relations and passages.

Relations are rows `(position, score)`, nodes `(name, position, score)`.

Source: Survey, Table 3 (tab-3)
"""

from collections import Counter
from itertools import chain, zip_longest


def in_turns(*lists):
    """The items of the lists in turns, each once: [a, b, c] and [b, d] give [a, b, d, c]."""
    turns = dict.fromkeys(chain.from_iterable(zip_longest(*lists)))
    return [item for item in turns if item is not None]


def global_first(local, overall):
    """The items of the global search, then the local ones that are new."""
    return list(dict.fromkeys([*overall, *local]))


def own_passages(sources, taken=()):
    """For each entity or relation the passages that no earlier one has and that are not `taken`,
    most often cited first. sources: for each of them the passages that it was read from.
    """
    cited = Counter(place for source in sources for place in set(source))
    seen, lists = set(taken), []
    for source in sources:
        own = [place for place in dict.fromkeys(source) if place not in seen]
        seen.update(own)
        lists.append(sorted(own, key=lambda place: -cited[place]))
    return lists


def weighted_polling(lists, most, least=1):
    """Passages from lists in order of importance: `most` of the first list, falling evenly to
    `least` of the last. What a short list leaves goes to the first list with passages left.
    """
    steps = max(len(lists) - 1, 1)
    shares = [round(most - place / steps * (most - least)) for place in range(len(lists))]
    picked = [place for own, share in zip(lists, shares) for place in own[:share]]
    spare = [place for own, share in zip(lists, shares) for place in own[share:]]
    return picked + spare[: sum(shares) - len(picked)]


def pick(lists, most, similarity=None):
    """The passages nearest to the question by `similarity` (passages,), half of `most` for each
    list; without it, or where that is no passage, by weighted polling.
    """
    count = 0 if similarity is None else most * len(lists) // 2
    if not count:
        return weighted_polling(lists, most)
    candidates = {place for own in lists for place in own}
    return sorted(candidates, key=lambda place: (-similarity[place], place))[:count]
