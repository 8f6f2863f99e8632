"""The key of the API and the password of Flower: where they come from, and who may read them."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.worker_processes import chiron

from chiron_api.local_stack.access import api_key, api_key_file, flower_password, flower_password_file
from chiron_workers.errors import ChironError, ConfigurationError
from chiron_workers.settings import Settings, read_settings


@pytest.fixture
def own(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, home=tmp_path / "home")  # type: ignore[call-arg]


def changed(settings: Settings, **values: object) -> Settings:
    return settings.model_copy(update=values)


def test_each_secret_is_made_once_and_kept_for_its_owner_alone(own: Settings) -> None:
    umask = os.umask(0)
    try:
        key, password = api_key(own), flower_password(own)
    finally:
        os.umask(umask)
    assert (api_key(own), flower_password(own)) == (key, password)
    assert len({key, password}) == 2
    assert min(len(key), len(password)) > 40
    for file in (api_key_file(own), flower_password_file(own)):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(own.home.stat().st_mode) == 0o700
    assert sorted(path.name for path in own.home.iterdir()) == ["api.key", "flower.password"]


def test_programs_that_start_at_once_agree_on_one_key(own: Settings) -> None:
    with ThreadPoolExecutor(16) as threads:
        keys = set(threads.map(lambda _: api_key(own), range(64)))
    assert keys == {api_key_file(own).read_text().strip()}


def test_a_key_that_was_set_is_taken_and_none_is_written(own: Settings) -> None:
    settings = changed(own, api_key=SecretStr("a long key of my own"), flower_password=SecretStr("mine, too"))
    assert (api_key(settings), flower_password(settings)) == ("a long key of my own", "mine, too")
    assert not own.home.exists()


def test_without_a_key_only_on_request_and_only_on_this_machine(own: Settings) -> None:
    for host in ("127.0.0.1", "::1", "localhost"):
        assert api_key(changed(own, api_without_key=True, api_host=host)) == ""
    for host in ("0.0.0.0", "::", "192.0.2.7", "chiron.example"):
        assert api_key(changed(own, api_host=host))
        with pytest.raises(ConfigurationError, match="CHIRON_API_WITHOUT_KEY"):
            api_key(changed(own, api_without_key=True, api_host=host))
    with pytest.raises(ConfigurationError, match="exclude each other"):
        api_key(changed(own, api_without_key=True, api_key=SecretStr("of mine")))


@pytest.mark.parametrize("blanks", [" ", " \t" * 20])
def test_api_key_takes_blanks_for_no_key(own: Settings, monkeypatch: pytest.MonkeyPatch, blanks: str) -> None:
    monkeypatch.setenv("CHIRON_API_KEY", blanks)
    settings = read_settings(_env_file=None).model_copy(update={"home": own.home})
    assert api_key(settings) == api_key(own) != ""
    assert api_key(changed(settings, api_without_key=True)) == ""
    monkeypatch.setenv("CHIRON_API_KEY", f"{blanks}a long key of my own{blanks}")
    assert api_key(read_settings(_env_file=None)) == "a long key of my own"


def test_settings_accept_a_short_key_in_commands_that_do_not_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIRON_API_KEY", "short")
    settings = read_settings(_env_file=None)
    with pytest.raises(ConfigurationError, match="CHIRON_API_KEY: a key of your own needs at least 20"):
        api_key(settings)


def test_api_key_refuses_short_keys_of_the_setting_and_of_the_file(own: Settings) -> None:
    own.home.mkdir()
    short = "nineteen characters"
    done = chiron(own, "api", CHIRON_API_KEY=f" {short} ")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "CHIRON_API_KEY: a key of your own needs at least 20 characters" in done.stderr
    assert short not in done.stderr
    api_key(own)
    api_key_file(own).write_text(f"{short}\n")
    with pytest.raises(
        ConfigurationError, match=r"api\.key holds a key of fewer than 20 characters. Delete it"
    ):
        api_key(own)
    api_key_file(own).write_text(f"{short}1\n")
    assert api_key(own) == f"{short}1"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_key_that_other_users_can_read_or_choose_is_not_used(own: Settings, mode: int) -> None:
    api_key(own)
    api_key_file(own).chmod(mode)
    with pytest.raises(ConfigurationError, match="you alone can read"):
        api_key(own)


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines", b"\xc3\xbc", b"\xff", 2_000 * b"x"])
def test_a_file_without_a_usable_secret_is_not_used(own: Settings, content: bytes) -> None:
    api_key(own)
    api_key_file(own).write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"api\.key holds no secret.*Delete it"):
        api_key(own)


def test_a_link_or_a_pipe_in_place_of_the_key_is_not_followed(own: Settings, tmp_path: Path) -> None:
    own.home.mkdir()
    target = tmp_path / "elsewhere"
    target.write_text("chosen-by-somebody-else")
    target.chmod(0o600)
    api_key_file(own).symlink_to(target)
    with pytest.raises(ConfigurationError, match=r"api\.key cannot be used"):
        api_key(own)
    os.mkfifo(flower_password_file(own), 0o600)
    with pytest.raises(ConfigurationError, match="you alone can read"):
        flower_password(own)


def test_a_full_disk_is_no_wrong_setting_and_leaves_no_half_key(own: Settings, small_files: None) -> None:
    with pytest.raises(
        ChironError, match=r"api\.key cannot be written, since its disk is full.*1 GB free"
    ) as raised:
        api_key(own)
    assert not isinstance(raised.value, ConfigurationError)
    assert list(own.home.iterdir()) == []


def test_chiron_key_prints_what_the_servers_ask_for(settings: Settings) -> None:
    assert chiron(settings, "key").stdout == f"{api_key(settings)}\n"
    assert chiron(settings, "key", "flower").stdout == f"{flower_password(settings)}\n"
    own_key = "a key of twenty char"
    assert chiron(settings, "key", CHIRON_API_KEY=own_key).stdout == f"{own_key}\n"
    keyless = chiron(settings, "key", CHIRON_API_WITHOUT_KEY="true")
    assert (keyless.returncode, keyless.stdout, "asks for no key" in keyless.stderr) == (2, "", True)
