"""Skills as folders on a disk."""

from pathlib import Path

from chiron_workers.skills import Skills
from chiron_workers.skills.catalogue import SkillRoot
from chiron_workers.skills.skill import Source


def write_skill(
    root: Path, name: str, *, description: str = "For tests.", body: str = "Do it.", code: str | None = None
) -> Path:
    """A skill's folder below a root."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n")
    if code is not None:
        (folder / "skill.py").write_text(code)
    return folder


def skills_in(*roots: Path, trusted: bool = False) -> Skills:
    """The skills of some folders, in this order of precedence."""
    found = [SkillRoot(root, Source.USER) for root in roots]
    return Skills(found, trusted_folders=roots if trusted else ())
