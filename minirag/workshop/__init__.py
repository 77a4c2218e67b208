"""What maintainers run: notebooks, handouts, the paper map, the exercises. Only the command line
imports it.
"""
