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
from chiron_workers.skills.skill import CODE, LeftOut, Skill
from chiron_workers.toolkit import Tool
from chiron_workers.toolkit.function_tool import tool_of
from chiron_workers.toolkit.loading import module_from, tools_of

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """The code of a skill that a worker has loaded."""

    skill: Skill
    made: BaseSkill
    tools: tuple[Tool, ...]

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.skill.name


def load_code(catalogue: Catalogue) -> tuple[dict[str, Code], list[LeftOut]]:
    """The code of a catalogue's trusted skills, in the order it was loaded, and the skills whose code is broken."""
    left_out: list[LeftOut] = []
    kinds = _each(catalogue, _trusted(catalogue), _kind_of, left_out)
    needs = {name: tuple(kind.requires) for name, kind in kinds.items()}
    for name, reason in _unmet(needs, frozenset(catalogue.skills)).items():
        left_out.append(LeftOut(catalogue.skills[name].folder, reason))
        del kinds[name]
    loaded: dict[str, Code] = {}
    for name in _in_order({name: needs[name] for name in kinds}):
        missing = [each for each in needs[name] if each in needs and each not in loaded]
        if missing:
            reason = f"It needs the skill {missing[0]}, which cannot be used."
            left_out.append(LeftOut(catalogue.skills[name].folder, reason))
        else:
            kind = kinds[name]
            loaded |= _each(catalogue, [name], partial(_loaded, kind=kind), left_out)
    return loaded, left_out


def closure(name: str, codes: Mapping[str, Code]) -> list[str]:
    """A skill's name after those of all skills that it needs, each after what it needs itself."""
    found: list[str] = []
    for needed in codes[name].made.requires if name in codes else ():
        found += [each for each in closure(needed, codes) if each not in found]
    return [*found, name]


def _trusted(catalogue: Catalogue) -> list[str]:
    return [name for name, skill in catalogue.skills.items() if skill.is_trusted and skill.has_code]


def _each(
    catalogue: Catalogue, names: Iterable[str], make: Callable[[Skill], Found], left_out: list[LeftOut]
) -> dict[str, Found]:
    made: dict[str, Found] = {}
    for name in names:
        skill = catalogue.skills[name]
        try:
            made[name] = make(skill)
        except ToolError as error:
            left_out.append(LeftOut(skill.folder, f"Its {CODE}: {error}"))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever somebody's code does is reported
            left_out.append(LeftOut(skill.folder, f"Its {CODE} failed: {type(error).__name__}: {error}"))
    return made


def _kind_of(skill: Skill) -> type[BaseSkill]:
    module = module_from(skill.folder / CODE)
    own = [value for value in vars(module).values() if _is_own_kind(value, module)]
    if len(own) > 1:
        raise SkillLoadError(f"It has {len(own)} skills: {', '.join(kind.__name__ for kind in own)}.")
    kind = own[0] if own else _of_tools_alone(module)
    for words in kind.packages:
        _require(words)
    return kind


def _is_own_kind(value: object, module: ModuleType) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseSkill) and value.__module__ == module.__name__


def _of_tools_alone(module: ModuleType) -> type[BaseSkill]:
    if not tools_of(module):
        raise SkillLoadError("It has neither a BaseSkill nor a tool.")
    return type("ToolsAlone", (BaseSkill,), {"__module__": module.__name__})


def _require(words: str) -> None:
    try:
        wanted = Requirement(words)
        found = version(wanted.name)
    except InvalidRequirement:
        raise SkillLoadError(f"{words!r} is no name of a package with versions.") from None
    except PackageNotFoundError:
        raise SkillLoadError(
            f"It needs the package {words}. Install it with `pip install '{words}'`."
        ) from None
    if not wanted.specifier.contains(found, prereleases=True):
        raise SkillLoadError(f"It needs the package {words}, and {found} is installed.")


def _unmet(needs: Mapping[str, tuple[str, ...]], offered: frozenset[str]) -> dict[str, str]:
    """Why skills cannot be loaded whatever their code says: what they need is not there, or needs them."""
    unmet = {
        name: f"It needs the skill {needed}, which is not there."
        for name, wanted in needs.items()
        for needed in wanted
        if needed not in offered
    }
    while cycle := _cycle({name: wanted for name, wanted in needs.items() if name not in unmet}):
        words = " needs ".join(cycle)
        unmet |= dict.fromkeys(cycle, f"It needs itself: {words}.")
    return unmet


def _cycle(needs: Mapping[str, tuple[str, ...]]) -> list[str]:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))  # it names what comes first, first
    return []


def _in_order(needs: Mapping[str, tuple[str, ...]]) -> list[str]:
    order = TopologicalSorter({name: sorted(wanted) for name, wanted in needs.items()}).static_order()
    return [name for name in order if name in needs]


def _loaded(skill: Skill, *, kind: type[BaseSkill]) -> Code:
    made = kind(skill)
    made.load()
    tools = [each if isinstance(each, Tool) else tool_of(each) for each in made.tools()]
    return Code(skill, made, tuple(tools))
