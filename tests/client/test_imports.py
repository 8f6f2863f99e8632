"""The client is usable with no other part of Chiron imported."""

from support import bare_interpreter

HEAVY = {
    "chiron_workers", "psycopg", "celery", "kombu", "redis", "anthropic", "numpy", "fastapi", "starlette", "typer",
    "mcp", "aiohttp", "onnxruntime", "duckdb", "pydantic_settings",
}  # fmt: skip


STRICT = "import warnings; warnings.simplefilter('error')\n"


def test_the_client_imports_nothing_else_of_chiron_and_nothing_heavy():
    outcome = bare_interpreter.run(
        STRICT + "from chiron_api.client import *\nwith Chiron('http://127.0.0.1:1'): pass"
    )
    assert outcome.packages & HEAVY == set()
    ours = {name for name in outcome.modules if name.startswith("chiron_api.")}
    assert {name.split(".")[1] for name in ours} == {"client", "answers"}


def test_the_models_alone_import_no_http():
    outcome = bare_interpreter.run(STRICT + "import chiron_api.answers.runs")
    assert "chiron_api.answers.runs" in outcome.modules
    assert "httpx2" not in outcome.modules


def test_every_name_of_the_package_can_be_imported():
    program = (
        "from chiron_api.client import *\nimport chiron_api.client as c\nfor n in c.__all__: getattr(c, n)"
    )
    assert bare_interpreter.run(STRICT + program).code is None


def test_the_old_address_of_the_models_has_the_same_classes_and_names_the_new_one():
    program = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from chiron_api.client.models.events import FactStored
    import chiron_api.client.models.runs as runs
import chiron_api.answers.events, chiron_api.answers.facts, chiron_api.answers.runs
import chiron_api.client.models.facts
assert chiron_api.client.models.facts is chiron_api.answers.facts
assert FactStored is chiron_api.answers.events.FactStored
assert runs is chiron_api.answers.runs
assert ["chiron_api.answers" in str(warning.message) for warning in caught] == [True], caught
assert caught[0].category is DeprecationWarning
"""
    outcome = bare_interpreter.run(program)
    assert outcome.code is None
    assert outcome.packages & HEAVY == set()
