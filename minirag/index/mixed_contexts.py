"""How GraphRAG's released code lets reports stand for elements in a context that is too large.

Release v3.1.2 holds this code and never reaches it: it builds all contexts before the first report
is written (G1). `ReportChoices(substitution="released")` reaches it.
"""

from ..algorithms.packing import prefix


def mix(builder, place, reports):
    """`(items, replaced, dropped)` of a community that is too large, as the released code has it.

    Sub-communities, those with the largest contexts first, give way to their reports until the
    reports and the elements of the others fit. Three things differ from the paper's rule: relations
    between two sub-communities are lost; a sub-community without a report loses its elements all
    the same; where nothing fits, reports stand alone, up to the first that does not fit.

    builder: a `ContextBuilder`. reports: position -> Report.

    Source: GraphRAG, Sec. 2.5 (sec-2.5-higher)
    """
    count = lambda items: sum(builder.size(*item, reports) for item in items)
    parts = builder.communities.items[place].children
    ranked = sorted(parts, key=lambda part: -count(builder.elements(part)))
    listed = lambda some: [("report", part) for part in some if part in reports]
    for number in range(1, len(ranked) + 1):
        items = listed(ranked[:number]) + builder.elements(*ranked[number:])
        if count(items) <= builder.limit:
            return items, ranked[:number], []
    fit = prefix([count(listed([part])) for part in ranked], builder.limit)
    return listed(ranked[:fit]), ranked[:fit], ranked[fit:]
