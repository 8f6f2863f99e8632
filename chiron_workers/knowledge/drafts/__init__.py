"""Drafts in sections whose every sentence names its facts and is held to them."""
