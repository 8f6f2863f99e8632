"""The role that has answers of a quiz marked which rules leave open."""
