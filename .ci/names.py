"""Holds bound names to nouns: at most 10 in 1,000 may be a bare participle or a pronoun (`found`, `one`, `wanted`).

Bound are variables, arguments, loop and `with` targets. `--list` shows each place.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("chiron_workers", "chiron_api")
WIRE = ROOT / "chiron_api/answers"  # its names are fields of JSON, which programs read
PER_THOUSAND_MAX = 10

PRONOUNS = """
    another any anything both each either every everything it its many more most much neither none nothing one ones other
    others own rest same some something such that them these they this those what which who whom whose
"""
IRREGULAR = """
    begun bound broken brought built bought caught chosen come cut done drawn driven fallen felt fit forgotten found given
    gone grown heard held hidden hit kept known laid led left lent lost made meant met paid put risen rung said seen sent
    shown shut sold spoken standing stood stuck sunk taken taught thought told torn understood wanted withdrawn won worn
    written
"""
# The field's nouns that end like a participle, and words that a library or its protocol sets.
NOUNS = """
    bed beginning being bring building ceiling drawing embed embedding encoding feed finding following heading
    heed king listing morning need
    opening ping pricing proceed ranking rating reasoning red ring ruling seed setting shed sibling spelling spring string thing
    thinking timing warning weed wing wording
"""
RIDDLES = frozenset((PRONOUNS + IRREGULAR).split())
ALLOWED = frozenset(NOUNS.split())


def is_riddle(name: str) -> bool:
    word = name.strip("_").lower()
    if not word or word in ALLOWED:
        return False
    return word in RIDDLES or bool(re.fullmatch(r"[a-z]{3,}(ed|ing)", word))


def members(tree: ast.AST) -> set[ast.AST]:
    """Members of enums: words of the schema and of protocols, not names of ours."""
    enums = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.bases)
    return {
        target
        for enum in enums
        if ast.unparse(enum.bases[0]).endswith("Enum")
        for line in enum.body
        if isinstance(line, ast.Assign)
        for target in line.targets
    }


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    skipped = members(tree)
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg) and node.arg not in {"self", "cls"}:
            yield node.arg, node.lineno


def main() -> int:
    total, riddles = Counter[str](), Counter[str]()
    words, places = Counter[str](), []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            if file.is_relative_to(WIRE):
                continue
            path = file.relative_to(ROOT)
            for name, line in bound_names(ast.parse(file.read_text(encoding="utf-8"))):
                if name == "_":
                    continue
                total[package] += 1
                if is_riddle(name):
                    riddles[package] += 1
                    words[name] += 1
                    places.append(f"{path}:{line}: {name}")
    if "--list" in sys.argv:
        print("\n".join(places))
        print(", ".join(f"{word} {count}" for word, count in words.most_common(200)))
    failed = False
    for package in PACKAGES:
        share = riddles[package] * 1000 / total[package]
        failed |= share > PER_THOUSAND_MAX
        count = f"{riddles[package]} of {total[package]} bound names"
        print(f"{package}: {count} are participles or pronouns, {share:.1f} in 1,000")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
