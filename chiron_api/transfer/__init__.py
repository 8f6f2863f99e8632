"""Knowledge as files: exported, carried elsewhere, and imported again."""
