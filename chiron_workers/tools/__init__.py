from functools import cache
from pathlib import Path

from chiron_workers.errors import ToolError
from chiron_workers.settings import settings
from chiron_workers.skills import skills
from chiron_workers.skills.skill_tools import register_skills
from chiron_workers.toolkit.loading import Broken
from chiron_workers.toolkit.registry import Registry
from chiron_workers.tools.own_tools import OwnTools


def registry() -> Registry:
    """All tools: of this package, of the folders and modules of `CHIRON_TOOLS`, and of skills.

    A new file in this package or in such a folder is a new tool, with no other edit. A user's tool that cannot be
    loaded is left out and noted in `broken`.
    """
    return own_tools().registry


@cache
def own_tools() -> OwnTools:
    """The user's own folders of tools, which keep the registry of this process as the files stand."""
    tools = Registry()
    tools.load_from_module(__name__)
    register_skills(tools, skills())
    folders: list[Path] = []
    for place in settings().tools:
        if "/" in place or Path(place).expanduser().is_dir():
            folders.append(Path(place).expanduser())
        else:
            _load_module(tools, place)
    folder_tools = OwnTools(tools, folders)
    folder_tools.load()
    return folder_tools


def _load_module(tools: Registry, name: str) -> None:
    try:
        tools.load_from_module(name)
    except ToolError as error:
        tools.broken.append(Broken(name, str(error)))
