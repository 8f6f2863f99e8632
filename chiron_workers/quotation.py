"""Passages that stand in a prompt as data, between marks that they cannot close themselves."""

import hashlib

DIGEST_CHARS = 16


def mark_for(name: str, *texts: str) -> str:
    """The name of a mark that stands in none of these texts: the same texts get the same one.

    It holds their digest, so nobody can write it into a text beforehand, in whatever way marks are nested.
    """
    digest = hashlib.sha256(name.encode())
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "replace")).digest())
    while any((mark := f"{name}-{digest.hexdigest()[:DIGEST_CHARS]}") in text for text in texts):
        digest.update(b"again")
    return mark


def quoted(name: str, text: str) -> str:
    """A text between marks that hold a name and which it cannot close."""
    mark = mark_for(name, text)
    return f"<{mark}>\n{text}\n</{mark}>"
