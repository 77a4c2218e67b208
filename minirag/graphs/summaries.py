"""Element summaries: many descriptions of one element become one."""

from ..prompts.summaries import MAX_TOKENS
from ..text.tokens import count_tokens


def summarise_elements(
    llm,
    described,
    max_tokens=MAX_TOKENS,
    input_limit=4000,
    call_from=0,
    tokenizer="regex",
    executor=None,
):
    """One description for each (name, descriptions) pair. None gives "", one stays as it is, and
    neither is a call; repeated ones count once.

    llm: None joins them with line breaks instead. call_from: descriptions that are shorter together
    are joined without a call (500 tokens in LightRAG's code). input_limit: what is longer is
    summarised in turns, each with the summary so far.

    Source: GraphRAG, Sec. 2.3 (sec-2.3)
    """
    names = [name for name, _ in described]
    queues = [
        [text for text in dict.fromkeys(" ".join(d.split()) for d in texts) if text]
        for _, texts in described
    ]
    for queue in queues:
        if (
            llm is None
            or call_from
            and sum(count_tokens(text, tokenizer) for text in queue) < call_from
        ):
            queue[:] = ["\n".join(queue)]
    while waiting := [i for i, queue in enumerate(queues) if len(queue) > 1]:
        batches = [_that_fit(queues[i], input_limit, tokenizer) for i in waiting]
        fields = [
            {"name": names[i], "descriptions": tuple(batch), "max_tokens": max_tokens}
            for i, batch in zip(waiting, batches)
        ]
        summaries = llm.map("summarise", fields, executor=executor, description="summaries")
        for i, batch, summary in zip(waiting, batches, summaries):
            # A model that said nothing must not cost what was known.
            queues[i] = [summary or "\n".join(batch), *queues[i][len(batch) :]]
    return ["".join(queue) for queue in queues]


def summarise_element(llm, name, descriptions, **options):
    """As `summarise_elements`, for one element."""
    return summarise_elements(llm, [(name, descriptions)], **options)[0]


def _that_fit(texts, limit, tokenizer):
    """The first texts that fit into `limit` tokens together, two at least, so that every turn
    shortens the queue.
    """
    used, count = 0, 0
    for text in texts:
        used += count_tokens(text, tokenizer)
        if used > limit and count >= 2:
            break
        count += 1
    return texts[:count]
