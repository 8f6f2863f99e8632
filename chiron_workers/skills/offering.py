"""Skills as tools of a registry: what loads them, and what their code brings."""

from dataclasses import replace

from chiron_workers.errors import ToolError
from chiron_workers.skills.code import Code
from chiron_workers.skills.live import Skills
from chiron_workers.skills.loading_tools import LoadSkill, ReadSkillFile
from chiron_workers.skills.skill import CODE, LeftOut
from chiron_workers.skills.skill_tools import FillTemplate, SkillTool
from chiron_workers.toolkit import Registry, Tool


def offer(registry: Registry, skills: Skills) -> None:
    """Register `load_skill`, `read_skill_file`, and the tools of each skill's code under names that begin with the
    skill's; a skill whose tools cannot be registered is left out."""
    registry.register(LoadSkill(skills))
    registry.register(ReadSkillFile(skills))
    for code in list(skills.codes.values()):
        registered: list[Tool] = []
        try:
            for tool in _tools(code, skills):
                registered.append(registry.register(tool))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever somebody's code made is reported
            for done in registered:
                registry.unregister(done.name)
            words = str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"
            skills.leave_out([LeftOut(code.skill.folder, f"Its {CODE}: {words}")])
        else:
            skills.codes[code.name] = replace(code, tools=tuple(registered))


def _tools(code: Code, skills: Skills) -> list[SkillTool]:
    own = list(code.tools)
    if code.made.templates:
        own.append(FillTemplate(code.made.templates))
    return [SkillTool(code.name, each, skills) for each in own]
