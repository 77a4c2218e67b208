"""One file a table: what `minirag reproduce TARGET` runs and compares."""

from .retrieval_tables import ROWS, TARGETS, build_row, reproduce_table
