"""Pure functions on arrays and graphs: no language model, no file, no network. The part a student
reads first.
"""
