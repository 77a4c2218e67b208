"""The one error class."""


class MiniragError(Exception):
    """Something the reader can put right; the message says what was expected and what to do."""
