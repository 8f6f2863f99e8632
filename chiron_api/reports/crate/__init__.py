"""Reports as RO-Crates, with the texts that their quotes stand in."""
