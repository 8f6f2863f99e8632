"""A variable that begins with CHIRON_ and is no setting is named, with the setting that was probably meant."""

import re
from pathlib import Path

from chiron_api.local_stack.supervision import HOME_VARIABLE
from chiron_workers.settings.environment import NAMES_MAX, environment_warnings

ROOT = Path(__file__).parents[2]
READ = re.compile(r"""environ(?:\.get\(|\[)\s*"(CHIRON_\w+)\"""")
COMPOSED = re.compile(r"^ +(CHIRON_\w+):", re.MULTILINE)


def test_a_misspelt_setting_is_named_with_the_nearest_one() -> None:
    [warning] = environment_warnings({"CHIRON_RUN_BUDGT_USD": "5", "CHIRON_MODEL": "offline", "HOME": "/"})
    assert warning.endswith(
        "only an MCP file could use: CHIRON_RUN_BUDGT_USD (did you mean CHIRON_RUN_BUDGET_USD?)."
    )


def test_what_is_a_setting_empty_or_an_address_of_a_service_is_not_named() -> None:
    environment = {
        "chiron_model": "offline",
        "CHIRON_MODLE": "",
        "CHIRON_SERVICE_HOST": "10.0.0.1",
        "CHIRON_SERVICE_PORT_HTTP": "8700",
        "CHIRON_PORT": "tcp://10.0.0.1:8700",
        "CHIRON_PORT_8700_TCP_ADDR": "10.0.0.1",
    }
    assert environment_warnings(environment) == []


def test_many_and_odd_names_are_one_bounded_sentence() -> None:
    [warning] = environment_warnings({f"CHIRON_\x1b{n}{'X' * 1_000}": "1" for n in range(NAMES_MAX + 3)})
    assert (warning.isprintable(), warning.endswith(", 3 more."), len(warning) < 1_000) == (True, True, True)


def test_no_variable_that_we_read_ourselves_is_named() -> None:
    files = [
        file
        for folder in ("chiron_api", "chiron_workers", "benchmarks", "tests")
        for file in ROOT.glob(f"{folder}/**/*.py")
    ]
    names = {name for file in files for name in READ.findall(file.read_text())} | {HOME_VARIABLE}
    names |= set(COMPOSED.findall((ROOT / "docker-compose.yml").read_text()))
    names |= set(re.findall(r"CHIRON_\w+(?==\w)", (ROOT / "CONTRIBUTING.md").read_text()))
    assert {"CHIRON_API_URL", "CHIRON_RACE_SEEDS", "CHIRON_SEED", "CHIRON_WORKERS"} <= names
    assert environment_warnings(dict.fromkeys(names, "1")) == []
