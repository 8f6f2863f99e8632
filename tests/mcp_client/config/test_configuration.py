import json
from pathlib import Path
from typing import Any

import pytest

from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.config.configuration import Configuration, read_configuration
from chiron_workers.settings import Settings


def read(folder: Path, servers: Any) -> Configuration:
    text = servers if isinstance(servers, str) else json.dumps({"mcpServers": servers})
    (folder / "mcp.json").write_text(text)
    return read_configuration(Settings(_env_file=None, home=folder))


def problem(folder: Path, entry: Any) -> str:
    """What is said of one wrong server, beside which another one counts."""
    found = read(folder, {"wrong": entry, "right": {"command": "true"}})
    assert [server.name for server in found.servers] == ["right"]
    [sentence] = found.problems
    return sentence


def test_without_a_file_there_are_no_servers(tmp_path: Path):
    assert read_configuration(Settings(_env_file=None, home=tmp_path)) == Configuration()


def test_the_common_form_is_read_whatever_other_programs_write_into_it(tmp_path: Path):
    found = read(
        tmp_path,
        {
            "local": {"command": "npx", "args": ["-y", "x", 7], "env": {"PORT": 80}, "autoApprove": ["all"]},
            "web": {"type": "http", "url": "https://example.org/mcp", "timeout": 5, "allowedTools": ["a"]},
            "off": {"command": "true", "disabled": True},
        },
    )
    local, web = found.servers
    assert (local.command, local.args, local.env) == ("npx", ("-y", "x", "7"), {"PORT": "80"})
    assert (web.url, web.timeout_s, web.allowed_tools) == ("https://example.org/mcp", 5, frozenset({"a"}))
    assert (found.disabled_names, found.problems) == (("off",), ())


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("npx", "must be an object with a command or a url"),
        ({}, "must have a command or a url"),
        ({"command": "a", "url": "http://b"}, "must have a command or a url, one of them"),
        ({"command": ["a"]}, "'wrong', command: "),
        ({"url": "ftp://a"}, "'wrong', url: "),
        ({"command": "a", "args": "b"}, "'wrong', args: "),
        ({"url": "http://a", "headers": {"K": None}}, "'wrong', headers.K: "),
        ({"url": "http://a", "headers": {"K": "a\nb"}}, "'wrong', headers.K: must be printable ASCII"),
        (
            {"url": "http://a", "timeout": 30_000},
            "'wrong', timeout: Input should be less than or equal to 3600 (in s",
        ),
        ({"url": "http://a", "allowedTool": ["x"]}, "did you mean allowedTools?"),
        ({"url": "http://a", "type": "sse"}, "streamable HTTP"),
        ({"url": "http://a", "type": "stdio"}, "'wrong', type: with a url it must be http"),
        (
            {"command": "a", "env": {"K": "${NOT_SET_ANYWHERE}"}},
            "env.K: the environment variable NOT_SET_ANYWHERE",
        ),
    ],
)
def test_a_wrong_entry_is_one_sentence_with_server_and_field_and_the_others_count(
    tmp_path: Path, entry: Any, words: str
):
    sentence = problem(tmp_path, entry)
    assert words in sentence
    assert "'wrong'" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {', "is not JSON: Expecting"),
        ("[]", "must be an object with"),
        ('{"mcpServers": {"a": {}, "a": {}}}', "'a' stands there twice"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, words: str):
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert str(tmp_path / "mcp.json") in str(caught.value)


def test_a_file_that_is_named_and_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(ConfigurationError, match=r"cannot be read: .*CHIRON_MCP_SERVERS"):
        read_configuration(Settings(_env_file=None, mcp_servers=str(tmp_path / "none.json")))


def test_variables_are_put_in_and_what_they_held_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_KEY", "s3cret-of-mine")
    headers = {"Authorization": "Bearer ${MY_KEY}", "X-Place": "${NO_PLACE:-here}"}
    url = "https://user:passw0rd@example.org/mcp?apiKey=another-secret#there"
    [web] = read(tmp_path, {"web": {"url": url, "headers": headers}}).servers
    assert web.headers == {"Authorization": "Bearer s3cret-of-mine", "X-Place": "here"}
    assert web.address == "https://example.org/mcp"
    said = web.redaction("Bearer s3cret-of-mine, s3cret-of-mine, passw0rd, another-secret, here")
    assert said == "***, ***, ***, ***, here"
    assert "s3cret" not in repr(web)


def test_secrets_are_known_by_their_looks_and_in_arguments_too(tmp_path: Path):
    env = {"DATABASE": "postgres://me:pass-of-db@host/db", "X": "0a1b2c3d4e5f6a7b8c"}
    args = ["--api-key=first-one", "--token", "second-one", "--root", "/data/files"]
    [local] = read(tmp_path, {"local": {"command": "x", "args": args, "env": env}}).servers
    said = local.redaction("pass-of-db 0a1b2c3d4e5f6a7b8c first-one second-one /data/files")
    assert said == "*** *** *** *** /data/files"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("DATABASE_URL", "postgres://me:pw-of-db@host/db", "pw-of-db"),
        ("DATABASE_URL", "postgres://me:pw-of-db@host/db", "postgres://me:pw-of-db@host/db"),
        ("SOME_HOST", "redis://:p%40ss-word@host", "p@ss-word"),
        ("GITHUB_PAT", "github-pat", "github-pat"),
        ("DB_PASS", "letters", "letters"),
        ("SENTRY_DSN", "https://abc@sentry.example/1", "https://abc@sentry.example/1"),
        ("SOMETHING", "nobody knows", "nobody knows"),
        ("PIN_TOKEN", "12345678", "12345678"),
    ],
)
def test_what_is_not_plainly_harmless_in_an_environment_is_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, secret: str
):
    monkeypatch.setenv("WHATEVER", value)
    by_env, by_variable = read(
        tmp_path,
        {
            "a": {"command": "x", "env": {name: value}},
            "b": {"command": "x", "args": ["--any=${WHATEVER}"]},
        },
    ).servers
    assert by_env.redaction(f"<{secret}>") == "<***>"
    if not secret.isdecimal():
        assert by_variable.redaction(f"<{secret}>") == "<***>"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--api-key", "one-of-ours"],
        ["--api-key=one-of-ours"],
        ["--db-pass", "one-of-ours"],
        ["-e", "GITHUB_PAT=one-of-ours"],
        ["--header", "Authorization: Bearer one-of-ours"],
        ["postgres://me:one-of-ours@host/db"],
        ["-e", "URL=postgres://me:one-of-ours@host/db"],
    ],
)
def test_secrets_that_stand_in_arguments_are_hidden(tmp_path: Path, arguments: list[str]):
    [local] = read(tmp_path, {"local": {"command": "x", "args": arguments}}).servers
    assert local.redaction("<one-of-ours>") == "<***>"


def test_what_is_plainly_harmless_in_an_environment_is_shown(tmp_path: Path):
    env = {
        "ROOT": str(tmp_path),
        "KEY_FILE": str(tmp_path / "mcp.json"),
        "DEBUG": "1",
        "LIMIT": "1000000",
        "LOG_LEVEL": "warning",
        "PYTHONPATH": "/nowhere:/here",
        "BASE": "https://api.example.org",
        "API_TOKEN": "tok-123456",
    }
    [local] = read(tmp_path, {"local": {"command": "/usr/bin/true", "env": env}}).servers
    shown = " ".join(list(env.values())[:-1])
    assert local.redaction(f"{shown} tok-123456") == f"{shown} ***"
    assert local.address == "true"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://h.example/api/${MCP_KEY}/mcp", "https://h.example/api/${MCP_KEY}/mcp"),
        ("https://h.example/api/${NO_KEY:-a/b?c-of-ours}/mcp", "https://h.example/api/${NO_KEY}/mcp"),
        ("https://me:${MCP_KEY}@h.example/mcp?a=${MCP_KEY}", "https://h.example/mcp"),
        ("https://h.example/s/0a1b2c3d4e5f6a7b8c/mcp", "https://h.example/s/***/mcp"),
    ],
)
def test_an_address_is_shown_without_the_keys_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, address: str
):
    monkeypatch.setenv("MCP_KEY", "path-of-ours")
    [web] = read(tmp_path, {"web": {"url": url}}).servers
    assert web.address == address
    for secret in ("path-of-ours", "0a1b2c3d4e5f6a7b8c"):
        if secret in web.url:
            assert web.redaction(f"at /{secret}/") == "at /***/"


def test_an_address_that_is_none_costs_only_its_server(tmp_path: Path):
    found = read(tmp_path, {"odd": {"url": "http://[a/mcp"}, "right": {"command": "true"}})
    assert "right" in [server.name for server in found.servers]
