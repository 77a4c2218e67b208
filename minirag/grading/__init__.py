"""Exercises: a student's notebook is run and graded, with hints instead of tracebacks."""
