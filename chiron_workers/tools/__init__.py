from functools import cache
from pathlib import Path

from chiron_workers.errors import ToolError
from chiron_workers.settings import settings
from chiron_workers.skills import skills
from chiron_workers.skills.skill_tools import register_skills
from chiron_workers.toolkit.loading import Broken
from chiron_workers.toolkit.registry import Registry


@cache
def registry() -> Registry:
    """All tools: of this package, of the folders and modules of `CHIRON_TOOLS`, and of skills.

    A new file in this package or in such a folder is a new tool, with no other edit. A user's tool that cannot be
    loaded is left out and noted in `broken`.
    """
    tools = Registry()
    tools.load_from_module(__name__)
    register_skills(tools, skills())
    for place in settings().tools:
        load_tools(tools, place)
    return tools


def load_tools(tools: Registry, place: str) -> None:
    """Register the tools of a folder, or of a module if `place` names no folder."""
    folder = Path(place).expanduser()
    try:
        if folder.is_dir() or "/" in place:
            tools.load_from_directory(folder)
        else:
            tools.load_from_module(place)
    except ToolError as error:
        tools.broken.append(Broken(place, str(error)))
