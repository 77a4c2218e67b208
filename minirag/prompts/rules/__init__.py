"""The offline rules that several tasks share: names by spelling, types by cues."""
