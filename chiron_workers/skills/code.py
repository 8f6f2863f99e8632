"""The code of trusted skills: imported, checked for what it depends on, and loaded in that order."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import TypeVar

from packaging.requirements import InvalidRequirement, Requirement

from chiron_workers.errors import SkillLoadError, ToolError
from chiron_workers.skills.base_skill import BaseSkill
from chiron_workers.skills.catalogue import Catalogue
from chiron_workers.skills.skill import CODE, Rejection, Skill
from chiron_workers.toolkit import Tool
from chiron_workers.toolkit.function_tool import tool_of
from chiron_workers.toolkit.loading import module_from, tools_of

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class SkillCode:
    """The code of a skill that a worker has loaded."""

    skill: Skill
    instance: BaseSkill
    tools: tuple[Tool, ...]

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.skill.name


def load_code(catalogue: Catalogue) -> tuple[dict[str, SkillCode], list[Rejection]]:
    """The code of a catalogue's trusted skills, in the order it was loaded, and the skills whose code is broken."""
    rejections: list[Rejection] = []
    names = [name for name, skill in catalogue.skills.items() if skill.is_trusted and skill.has_code]
    classes = _apply(_import_class, catalogue, names, rejections)
    requirements = {name: tuple(skill_class.requires) for name, skill_class in classes.items()}
    for name, reason in _unmet_requirements(requirements, frozenset(catalogue.skills)).items():
        rejections.append(Rejection(catalogue.skills[name].folder, reason))
        del classes[name]
    codes: dict[str, SkillCode] = {}
    for name in _in_order({name: requirements[name] for name in classes}):
        absent_names = [need for need in requirements[name] if need in requirements and need not in codes]
        if absent_names:
            reason = f"It needs the skill {absent_names[0]}, which cannot be used."
            rejections.append(Rejection(catalogue.skills[name].folder, reason))
        else:
            load = partial(_load, skill_class=classes[name])
            codes |= _apply(load, catalogue, [name], rejections)
    return codes, rejections


def with_requirements(name: str, codes: Mapping[str, SkillCode]) -> list[str]:
    """The names of all skills that a skill needs, each after its own requirements, and the skill's name last."""
    names: list[str] = []
    for requirement in codes[name].instance.requires if name in codes else ():
        names += [need for need in with_requirements(requirement, codes) if need not in names]
    return [*names, name]


def _apply(
    step: Callable[[Skill], Result], catalogue: Catalogue, names: Iterable[str], rejections: list[Rejection]
) -> dict[str, Result]:
    """What a step of loading returns for each skill; a skill for which it raises is rejected."""
    results: dict[str, Result] = {}
    for name in names:
        skill = catalogue.skills[name]
        try:
            results[name] = step(skill)
        except ToolError as error:
            rejections.append(Rejection(skill.folder, f"Its {CODE}: {error}"))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a fault in foreign code is reported
            rejections.append(Rejection(skill.folder, f"Its {CODE} failed: {type(error).__name__}: {error}"))
    return results


def _import_class(skill: Skill) -> type[BaseSkill]:
    module = module_from(skill.folder / CODE)
    classes = [value for value in vars(module).values() if _is_skill_class(value, module)]
    if len(classes) > 1:
        names = ", ".join(skill_class.__name__ for skill_class in classes)
        raise SkillLoadError(f"It has {len(classes)} skills: {names}.")
    if not classes and not tools_of(module):
        raise SkillLoadError("It has neither a BaseSkill nor a tool.")
    tools_alone: type[BaseSkill] = type("ToolsAlone", (BaseSkill,), {"__module__": module.__name__})
    skill_class = classes[0] if classes else tools_alone
    for package in skill_class.packages:
        _require_package(package)
    return skill_class


def _is_skill_class(value: object, module: ModuleType) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseSkill) and value.__module__ == module.__name__


def _require_package(package: str) -> None:
    try:
        requirement = Requirement(package)
        installed_version = version(requirement.name)
    except InvalidRequirement:
        raise SkillLoadError(f"{package!r} is no name of a package with versions.") from None
    except PackageNotFoundError:
        raise SkillLoadError(
            f"It needs the package {package}. Install it with `pip install '{package}'`."
        ) from None
    if not requirement.specifier.contains(installed_version, prereleases=True):
        raise SkillLoadError(f"It needs the package {package}, and {installed_version} is installed.")


def _unmet_requirements(
    requirements: Mapping[str, tuple[str, ...]], skills: frozenset[str]
) -> dict[str, str]:
    """Reasons by skill: a skill that it needs is not there, or needs it in turn."""
    unmet = {
        name: f"It needs the skill {requirement}, which is not there."
        for name, names in requirements.items()
        for requirement in names
        if requirement not in skills
    }
    while cycle := _cycle({name: names for name, names in requirements.items() if name not in unmet}):
        unmet |= dict.fromkeys(cycle, f"It needs itself: {' needs '.join(cycle)}.")
    return unmet


def _cycle(requirements: Mapping[str, tuple[str, ...]]) -> list[str]:
    try:
        TopologicalSorter(requirements).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))  # it lists the required skill first
    return []


def _in_order(requirements: Mapping[str, tuple[str, ...]]) -> list[str]:
    order = TopologicalSorter({name: sorted(names) for name, names in requirements.items()}).static_order()
    return [name for name in order if name in requirements]


def _load(skill: Skill, *, skill_class: type[BaseSkill]) -> SkillCode:
    instance = skill_class(skill)
    instance.load()
    tools = [item if isinstance(item, Tool) else tool_of(item) for item in instance.tools()]
    return SkillCode(skill, instance, tuple(tools))
