"""Everything that becomes a `Corpus`: shipped texts, your own folder, published benchmarks and
indices.
"""
