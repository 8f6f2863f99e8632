"""Lists of words, kept as data: vocabulary.txt."""

from importlib.resources import files


def _read() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    name = ""
    for line in files(__package__).joinpath("vocabulary.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif name and not line.startswith("#"):
            found[name] = found.get(name, frozenset()) | frozenset(line.split())
    return found


VOCABULARY = _read()
