"""What an agent reads of skills: a line for each in its system prompt, and all of one when it loads it."""

from chiron_workers.quotation import quoted
from chiron_workers.skills.catalogue import Catalogue
from chiron_workers.skills.code import SkillCode
from chiron_workers.skills.resources import resources
from chiron_workers.skills.skill import Skill

CATALOGUE_CHARS = 12_000  # of all lines together
DESCRIPTION_CHARS_MIN = 60
HEAD = (
    "Skills\nThese hold instructions for kinds of work. If one fits what you are asked, call `load_skill` with its name "
    "before you begin and follow it; what you loaded stays with you when your context window begins anew."
)


def catalogue_lines(catalogue: Catalogue) -> str:
    """The lines of the system prompt; an empty text where there are no skills."""
    skills = list(catalogue.skills.values())
    if not skills:
        return ""
    room = CATALOGUE_CHARS // len(skills)
    lines = [f"- {skill.name}: {_cut(skill.description, room - len(skill.name))}" for skill in skills]
    return "\n".join([HEAD, *lines])


def instructions(skill: Skill, code: SkillCode | None) -> str:
    """A skill's body, and the list of its files and tools."""
    parts = [f"The skill {skill.name}:", skill.body or "This skill has no instructions of its own."]
    files, has_more = resources(skill)
    if files:
        lines = [f"- {file.path} ({file.bytes:,} bytes)" for file in files]
        footer = ["- and more that are not listed"] if has_more else []
        head = f'Its files; read one with read_skill_file (skill "{skill.name}") when the instructions call for it:'
        parts.append("\n".join([head, *lines, *footer]))
    if code is not None and code.tools:
        parts.append(f"Its tools, which work from now on: {', '.join(tool.name for tool in code.tools)}.")
    return quoted("skill", "\n\n".join(parts))


def _cut(text: str, chars: int) -> str:
    chars = max(DESCRIPTION_CHARS_MIN, chars)
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"
