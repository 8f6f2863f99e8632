import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, WithJsonSchema

from chiron_workers.errors import UsageError
from chiron_workers.settings import settings

FOLDER = files("chiron_workers.roles")
FILE, PROMPT, QUESTION = "role.toml", "prompt.md", "question.md"
# What the templates may name.
PROMPT_FIELDS = frozenset({"subject", "subject_id", "threshold"})
QUESTION_FIELDS = frozenset({"topic", "subject", "background"})
STORE_FACTS = "store_knowledge"  # the tool by which research stores what it finds
HAND_IN_ROWS = "hand_in_rows"  # the tool by which a run that is asked for rows hands them in


class _File(BaseModel):
    """What the file role.toml may say."""

    model_config = ConfigDict(extra="forbid")

    tools: frozenset[str] = frozenset()
    result: str = ""
    researches: bool = False


@dataclass(frozen=True, slots=True)
class Role:
    """What a run is told to be: `prompt` and `question` are templates of its system prompt and of what it is asked first.

    `tools` are the names of those it is offered; where it names none, all that are not for other roles. `result` names the
    tool by which a run hands in what it was for: it does not end before a call of it has succeeded. A run of a role
    that `researches` does not answer its topic before it has called a tool.
    """

    name: str
    prompt: str
    question: str
    tools: frozenset[str] = frozenset()
    result: str = ""
    researches: bool = False

    @property
    def may_hand_in_rows(self) -> bool:
        """Whether its runs can be asked for rows: those of a role with a result of its own cannot."""
        return not self.result and self.may_call(HAND_IN_ROWS, reserved_for=frozenset())

    def may_call(self, tool: str, *, reserved_for: frozenset[str]) -> bool:
        """Whether its runs are offered a tool, which is for the roles `reserved_for`, or for every role."""
        return tool in self.tools if self.tools else not reserved_for or self.name in reserved_for


def role_names() -> tuple[str, ...]:
    """The roles a run can have: those of Chiron, and those of the folders that the settings name.

    Raises:
        UsageError: A folder of the settings cannot be read, or has a role of a name that is clashes.
    """
    return tuple(sorted({*shipped_role_names(), *_own_folders(tuple(settings().roles))}))


@cache
def shipped_role_names() -> tuple[str, ...]:
    """The roles that come with Chiron: each folder of this package with a file role.toml makes one."""
    return tuple(sorted(_role_folders(FOLDER)))


@cache
def role_of(name: str) -> Role:
    """The role of that name, as its folder was when it was first asked for.

    Raises:
        UsageError: There is none, or its files say what no role has.
    """
    if name in shipped_role_names():
        return _read_role(name, FOLDER / name)
    if folder := _own_folders(tuple(settings().roles)).get(name):
        return _read_role(name, folder)
    raise UsageError(f"There is no role {name[:60]!r}; there are {', '.join(role_names())}.")


@cache
def _own_folders(places: tuple[Path, ...]) -> Mapping[str, Traversable]:
    folders: dict[str, Traversable] = {}
    for place in places:
        try:
            new_folders = _role_folders(place)
        except OSError as error:
            raise UsageError(f"CHIRON_ROLES: {place} cannot be read: {error.strerror}.") from None
        if clashes := sorted(new_folders.keys() & {*shipped_role_names(), *folders}):
            raise UsageError(
                f"CHIRON_ROLES: {place} has a role {clashes[0]!r}, and there is one already; rename its folder."
            )
        folders |= new_folders
    return folders


def _role_folders(place: Traversable) -> dict[str, Traversable]:
    return {folder.name: folder for folder in place.iterdir() if (folder / FILE).is_file()}


def _read_role(name: str, folder: Traversable) -> Role:
    """Raises UsageError, which names the file and what is wrong with it."""
    try:
        declaration = _File.model_validate(tomllib.loads((folder / FILE).read_text("utf-8")))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in problem["loc"])
        raise UsageError(f"roles/{name}/{FILE}: {field}: {problem['msg']}.") from None
    except ValueError as error:
        raise UsageError(f"roles/{name}/{FILE}: {error}") from None
    prompt = _read_template(name, folder / PROMPT, PROMPT_FIELDS)
    question = _read_template(name, folder / QUESTION, QUESTION_FIELDS)
    return Role(name, prompt, question, declaration.tools, declaration.result, declaration.researches)


def _read_template(name: str, file: Traversable, fields: Collection[str]) -> str:
    place = f"roles/{name}/{file.name}"
    try:
        text = file.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise UsageError(f"{place} cannot be read: {error}") from None
    template = Template(text)
    names = ", ".join(f"${field}" for field in sorted(fields))
    if not template.is_valid():
        raise UsageError(f"{place}: a dollar sign stands before {names}; write $$ for the sign itself.")
    if unknown := sorted({*template.get_identifiers()} - {*fields}):
        raise UsageError(f"{place}: there is no ${unknown[0]}; there are {names}.")
    return text


def _require_role(name: str) -> str:
    if name not in role_names():
        raise ValueError(f"must be one of {'|'.join(role_names())}")
    return name


# An argument of a tool: its schema names the shipped roles, the settings may add others.
RoleName = Annotated[
    str,
    AfterValidator(_require_role),
    WithJsonSchema({"type": "string", "examples": list(shipped_role_names())}),
]
