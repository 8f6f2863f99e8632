"""The SKILL.md format of agentskills.io, read leniently: what can be used is, with a warning."""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from chiron_workers.documents.alias_free_yaml import WithoutAliases
from chiron_workers.errors import SkillLoadError

NAME_CHARS = 64  # this and the next two are the standard's limits
DESCRIPTION_CHARS = 1_024
COMPATIBILITY_CHARS = 500
NAME_CHARS_MAX = 200  # a longer one is refused
HEADER_CHARS_MAX = 16_000  # the YAML reader takes seconds for a much longer or deeply nested one
BRACKETS_MAX = 100
BODY_TOKENS = 5_000  # that the standard recommends at most
CHARS_PER_TOKEN = 4
KEY = re.compile(r"[A-Za-z][\w-]*")
QUOTE_CHARS = ("'", '"', "|", ">", "[", "{")


@dataclass(frozen=True, slots=True)
class SkillDocument:
    """The contents of a SKILL.md."""

    name: str
    description: str
    body: str
    fields: Mapping[str, Any]  # all of its frontmatter, also unknown ones
    warnings: tuple[str, ...]


def parse_skill(text: str, *, folder_name: str) -> SkillDocument:
    """The frontmatter and body of a SKILL.md; oddities that can be tolerated are among the warnings.

    Raises:
        SkillLoadError: It cannot be used at all: no frontmatter, no YAML, no description.
    """
    warnings: list[str] = []
    header, body = _split_frontmatter(text.replace("\r\n", "\n"))
    fields = _parse_fields(header, warnings)
    name = _name(fields, folder_name, warnings)
    description = _description(fields, warnings)
    compatibility = fields.get("compatibility")
    if isinstance(compatibility, str) and len(compatibility) > COMPATIBILITY_CHARS:
        warnings.append(f"Its compatibility is longer than {COMPATIBILITY_CHARS} characters.")
    if not body:
        warnings.append("It has no instructions.")
    if len(body) > BODY_TOKENS * CHARS_PER_TOKEN:
        warnings.append(
            f"Its instructions are longer than about {BODY_TOKENS:,} tokens; move parts to files."
        )
    return SkillDocument(name, description, body, fields, tuple(warnings))


def _split_frontmatter(text: str) -> tuple[str, str]:
    lines = text.lstrip("\ufeff \t\n").split("\n")
    if lines[0].rstrip() != "---":
        raise SkillLoadError("It does not begin with frontmatter: a line ---, then name and description.")
    for n, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return "\n".join(lines[1:n]), "\n".join(lines[n + 1 :]).strip()
    raise SkillLoadError("Its frontmatter is not closed by a line ---.")


class _Loader(WithoutAliases, yaml.BaseLoader):
    """Reads every scalar as the text it is."""


def _parse_fields(header: str, warnings: list[str]) -> dict[str, Any]:
    if len(header) > HEADER_CHARS_MAX or sum(map(header.count, "[{")) > BRACKETS_MAX:
        raise SkillLoadError(
            f"Its frontmatter has more than {HEADER_CHARS_MAX:,} characters or {BRACKETS_MAX} brackets."
        )
    try:
        fields = _load_yaml(header)
    except yaml.YAMLError as error:
        try:
            fields = _load_yaml(_with_quotes(header))
        except yaml.YAMLError:
            reason = " ".join(str(error).split())[:300]
            raise SkillLoadError(f"Its frontmatter is no YAML: {reason}") from None
        warnings.append("Its frontmatter is no strict YAML; values with a colon need quotes.")
    if not isinstance(fields, Mapping):
        raise SkillLoadError("Its frontmatter has no fields such as `name: ...`.")
    return {str(key): value for key, value in fields.items()}


def _load_yaml(header: str) -> Any:
    try:
        return yaml.load(header, Loader=_Loader)  # noqa: S506  # makes nothing but text, lists and mappings
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply") from None


def _with_quotes(header: str) -> str:
    def quote(line: str) -> str:
        key, colon, value = line.partition(": ")
        is_plain = KEY.fullmatch(key) and value.strip() and not value.lstrip().startswith(QUOTE_CHARS)
        return f"{key}{colon}{json.dumps(value.strip())}" if is_plain else line

    return "\n".join(quote(line) for line in header.expandtabs(2).split("\n"))


def _name(fields: Mapping[str, Any], folder_name: str, warnings: list[str]) -> str:
    value = fields.get("name")
    name = unicodedata.normalize("NFKC", " ".join(value.split())) if isinstance(value, str) else ""
    if not name:
        warnings.append("It has no name; its folder's is taken.")
        name = folder_name
    if len(name) > NAME_CHARS_MAX:
        raise SkillLoadError(f"Its name is longer than {NAME_CHARS_MAX} characters.")
    if not name.isprintable():
        raise SkillLoadError("Its name has characters that cannot be printed.")
    if len(name) > NAME_CHARS:
        warnings.append(f"Its name is longer than {NAME_CHARS} characters.")
    is_lower = name == name.lower() and all(letter.isalnum() or letter == "-" for letter in name)
    if not is_lower or name.startswith("-") or name.endswith("-") or "--" in name:
        warnings.append("A name has lower-case letters, digits and single hyphens between them.")
    if name != unicodedata.normalize("NFKC", folder_name):
        warnings.append(f"Its name is not that of its folder, {folder_name}.")
    return name


def _description(fields: Mapping[str, Any], warnings: list[str]) -> str:
    value = fields.get("description")
    description = " ".join(value.split()) if isinstance(value, str) else ""
    if not description:
        raise SkillLoadError("It has no description, by which an agent would know when to use it.")
    if len(description) > DESCRIPTION_CHARS:
        warnings.append(f"Its description is cut at {DESCRIPTION_CHARS} characters.")
        description = description[: DESCRIPTION_CHARS - 1].rstrip() + "…"
    return description
