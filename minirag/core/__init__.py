"""The nouns of the data flow, and what every layer needs: errors, options, files."""
