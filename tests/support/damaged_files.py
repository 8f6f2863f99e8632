"""Files that are cut or damaged anywhere, for hypothesis."""

from pathlib import Path

from hypothesis import strategies as st


def damaged(file: Path, data: st.DataObject, *, places_max: int) -> bytes:
    """The bytes of a file, of which up to `places_max` are others and the end may be missing."""
    whole = bytearray(file.read_bytes())
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=places_max), label="damaged at"):
        whole[at] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))), label="cut at")
    return bytes(whole[:end])
