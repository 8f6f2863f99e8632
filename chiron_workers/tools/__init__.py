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
    """Every tool of this package, and the user's own from the folders and modules of `CHIRON_TOOLS`.

    A module put beside this one, or into such a folder, is offered without another edit. What of the user's cannot
    be loaded is left out and noted in `broken`. Skills bring the tools that load them, and their own.
    """
    tools = Registry()
    tools.load_from_module(__name__)
    register_skills(tools, skills())
    for place in settings().tools:
        load(tools, place)
    return tools


def load(tools: Registry, place: str) -> None:
    """Register the tools of a folder, or of a module where the name is none of a folder's."""
    folder = Path(place).expanduser()
    try:
        if folder.is_dir() or "/" in place:
            tools.load_from_directory(folder)
        else:
            tools.load_from_module(place)
    except ToolError as error:
        tools.broken.append(Broken(place, str(error)))
