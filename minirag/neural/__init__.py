"""GRAG and G-Retriever as models: a graph becomes one token in front of a language model that stays
as it is.

The order to read: `batches` (graphs to arrays), `pruning`, `encoder` (both in plain PyTorch),
`language_model` and `pretraining` (a tiny model for laptops), `model` (all of it together),
`training`. Nothing here is imported before it is needed, since torch is heavy.
"""
