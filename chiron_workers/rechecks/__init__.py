"""Reading the sources of facts again."""
