"""`python -m minirag` is the command `minirag`."""

from .cli import main

main()
