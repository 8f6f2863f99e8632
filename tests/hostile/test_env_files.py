"""Files `.env` that a folder brings: each file of env_files/ is one, and its first line says what becomes of it.

`# refused: WORDS`, which the refusal says, or `# ignored`: the settings are what they are without it.
"""

import os
import sys
from pathlib import Path

import pytest
from support import forked_python
from support.worker_processes import environment

from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import Settings, read_settings
from chiron_workers.settings.env_file import BYTES_MAX, HARMLESS

MEMBERS = sorted((Path(__file__).parent / "env_files").glob("*.env"))
SETTINGS = {f"CHIRON_{name.upper()}" for name in Settings.model_fields}
# Letters that become ASCII ones by lower() or upper(); and how pydantic-settings, or a person, may write a name.
SPELLINGS = (
    str.lower,
    str.title,
    lambda name: name.replace("K", "\u212a"),
    lambda name: name.replace("S", "\u017f"),
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, in an environment that sets nothing of Chiron's."""
    for name in [name for name in os.environ if name.upper().startswith("CHIRON_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CANARY_SECRET", "hush")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.stem)
def test_a_dotenv_file_of_a_stranger_sets_nothing(member: Path, folder: Path) -> None:
    without = read_settings(_env_file=None)
    (folder / ".env").write_bytes(member.read_bytes())
    expected = member.read_text("utf-8-sig").splitlines()[0]
    if expected == "# ignored":
        assert read_settings() == without
        return
    with pytest.raises(ConfigurationError) as refusal:
        read_settings()
    assert expected.removeprefix("# refused: ") in str(refusal.value)
    assert "hush" not in str(refusal.value)


def test_a_setting_is_refused_in_every_spelling_unless_it_is_listed_as_harmless(folder: Path) -> None:
    assert HARMLESS < SETTINGS
    for name in sorted(SETTINGS - HARMLESS):
        for spelling in {name, *(spell(name) for spell in SPELLINGS)}:
            (folder / ".env").write_text(f"{spelling}=x\n")
            with pytest.raises(ConfigurationError, match="Put the rest into the environment"):
                read_settings()


@pytest.mark.parametrize("kind", ["address", "key", "bind", "code", "file", "bound"])
def test_nothing_that_is_dangerous_is_listed_as_harmless(kind: str) -> None:
    parts = {
        "address": ("_URL", "_PROVIDER", "SEARCH", "EMBEDDING"),
        "key": ("KEY", "PASSWORD"),
        "bind": ("_HOST", "_PORT"),
        "code": ("TOOLS", "SKILLS", "SERVERS"),
        "file": ("HOME", "FILES", "PROJECT"),
        "bound": ("PRICES", "USD", "PRIVATE", "BYTES", "MEMORY", "QUOTES", "CONFIDENCE", "ROBOTS", "PAUSE"),
    }[kind]
    by_name = {name for name in SETTINGS if any(part in name for part in parts)}
    assert by_name
    assert by_name & HARMLESS <= {"CHIRON_SEARCH_TIMEOUT_S", "CHIRON_CLAUDE_SEARCH"}


def test_what_the_environment_sets_too_may_stand_in_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("CHIRON_API_KEY=of-the-file\nCHIRON_MODEL=of-the-file\n")
    monkeypatch.setenv("CHIRON_API_KEY", "a-key-of-the-environment")  # as `uv run --env-file` does
    found = read_settings()
    assert (found.api_key.get_secret_value(), found.model) == ("a-key-of-the-environment", "of-the-file")


def test_what_is_no_small_file_is_not_read(folder: Path) -> None:
    (folder / ".env").write_text("CHIRON_MODEL=x\n" * BYTES_MAX)
    with pytest.raises(ConfigurationError, match="more than 100,000 bytes"):
        read_settings()
    (folder / ".env").unlink()
    os.mkfifo(folder / ".env")
    with pytest.raises(ConfigurationError, match="no ordinary file"):
        read_settings()
    (folder / ".env").unlink()
    (folder / ".env").mkdir()  # a virtual environment
    assert read_settings() == read_settings(_env_file=None)


def test_a_command_in_such_a_folder_runs_none_of_its_code(settings: Settings, folder: Path) -> None:
    skill = folder / "evil"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: evil\ndescription: Looks harmless.\n---\nBody\n")
    (skill / "skill.py").write_text(f"open({str(folder / 'run')!r}, 'w')\n")
    (folder / ".env").write_text(f"CHIRON_S\u212aILLS={folder}\nCHIRON_TRUSTED_S\u212aILLS={folder}\n")
    for command in ("skills", "tools"):
        done = forked_python.run(
            [sys.executable, "-P", "-m", "chiron_api", command],
            cwd=folder,
            env=environment(settings),
            timeout=60,
        )
        assert (done.returncode, "\\u212aILLS" in done.stderr) == (2, True), done.stderr
    assert not (folder / "run").exists()
