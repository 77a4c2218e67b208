"""From what a report or an answer cites back to the passages: entities, relationships, claims and
reports by number, or passage ids.
"""

import re

BRACKET = re.compile(r"\[([^\[\]]{1,600})\]")
CITED = re.compile(
    r"\b(Reports?|Entit(?:y|ies)|Relationships?|Claims?|Sources?)\s*\(([^()]*)\)", re.IGNORECASE
)


def cited(index, text):
    """What stands in square brackets in `text`: `(positions of reports, positions of chunks)`, each
    once, in order of mention.

    `[Data: Entities (3, 8); Reports (1-2)]` and `[report:1-2]` name elements by their number,
    `[n07, n12]` names passages by their id. A cited report stands for the passages that it cites
    itself; "+more" and numbers that do not exist stand for nothing.
    """
    graph, items = index.communities.graph, index.communities.items
    community = {item.id: place for place, item in enumerate(items)}
    chunk = {one.id: place for place, one in enumerate(graph.chunks)}
    of = {
        "e": dict(enumerate(node.chunks for node in graph.nodes)),
        "c": {i if c.number is None else c.number: c.chunks for i, c in enumerate(graph.claims)},
    }
    reports, chunks, waiting, read = {}, {}, [text], set()
    while waiting:
        for inside in BRACKET.findall(waiting.pop(0)):
            for kind, numbers in CITED.findall(inside):
                for number in (part.strip() for part in numbers.split(",")):
                    letter = "l" if kind.lower().startswith("rel") else kind[0].lower()
                    if letter == "r" and number in community:
                        reports[community[number]] = True
                    elif letter == "l" and number.isdigit() and int(number) < len(graph.edges):
                        chunks.update(dict.fromkeys(graph.edges[int(number)].chunks))
                    elif letter in of and number.isdigit():
                        chunks.update(dict.fromkeys(of[letter].get(int(number), ())))
            for part in re.split(r"[,;]\s*", inside):
                name = part.strip()
                if name in chunk:
                    chunks[chunk[name]] = True
                elif name.removeprefix("report:") in community and name.startswith("report:"):
                    reports[community[name.removeprefix("report:")]] = True
        if (
            not chunks and not waiting
        ):  # nothing but reports was cited: their own citations say which passages
            waiting = [
                index.reports[place].text
                for place in reports
                if place in index.reports and place not in read
            ]
            read |= set(reports)
    return list(reports), list(chunks)
