"""Signed crates, and key files as openssl and ssh-keygen write them."""

import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.crate_files import sign, write_zip
from typer.testing import CliRunner

from chiron_api.cli import build
from chiron_api.crate.signatures import KeyRefused, fingerprint, read_private_key, read_public_key
from chiron_api.reports.crate.options import PackingOptions
from chiron_api.reports.crate.packing import pack
from chiron_api.reports.crate.privacy import TextChoice
from chiron_api.reports.gathering import gather

PEM, SSH = serialization.Encoding.PEM, serialization.Encoding.OpenSSH
PKCS8, SSH_PRIVATE = serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.OpenSSH
SPKI, SSH_PUBLIC = serialization.PublicFormat.SubjectPublicKeyInfo, serialization.PublicFormat.OpenSSH
NO_PASSPHRASE = serialization.NoEncryption()
KEY, OTHER_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
CURVE_KEY = generate_private_key(SECP256R1())
PRIVATE = {
    "openssl": KEY.private_bytes(PEM, PKCS8, NO_PASSPHRASE),
    "ssh-keygen": KEY.private_bytes(PEM, SSH_PRIVATE, NO_PASSPHRASE),
}
PUBLIC = {
    "openssl": KEY.public_key().public_bytes(PEM, SPKI),
    "ssh-keygen": KEY.public_key().public_bytes(SSH, SSH_PUBLIC) + b" me@desk\n",
}
LOCKED = KEY.private_bytes(PEM, PKCS8, serialization.BestAvailableEncryption(b"x"))


def run_verify(*arguments: object):
    return CliRunner().invoke(build(), ["verify", *map(str, arguments)])


@pytest.fixture
def public(tmp_path):
    """The file of the author's public key."""
    place = tmp_path / "public.pem"
    place.write_bytes(PUBLIC["openssl"])
    return place


@pytest.mark.parametrize("tool", ["openssl", "ssh-keygen"])
async def test_a_crate_is_signed_with_one_key_of_a_pair_and_checked_with_the_other(
    research, pool, tmp_path, tool
):
    (tmp_path / "private").write_bytes(PRIVATE[tool])
    (tmp_path / "public").write_bytes(PUBLIC[tool])
    key = read_private_key(tmp_path / "private")
    report = await gather(pool, research.batch, with_selections=True)
    for target in (tmp_path / "crate", tmp_path / "crate.zip"):
        sentence = await pack(pool, report, target, PackingOptions(TextChoice.ALL, key=key))
        assert sentence.endswith(f"Signed with the key {fingerprint(key.public_key())}.")
        answer = run_verify(target, "--key", tmp_path / "public")
        assert answer.exit_code == 0, answer.output
        assert (
            f"Signed with the key {fingerprint(key.public_key())}: no file was changed since."
            in answer.stdout
        )
        assert "Signed; --key PUBLIC checks by whom." in run_verify(target).stdout
    # A crate that is not signed takes the place of one that is, whole.
    await pack(pool, report, tmp_path / "crate", PackingOptions(TextChoice.ALL, force=True))
    assert "Not signed" in run_verify(tmp_path / "crate").stdout


def test_any_change_of_a_signed_crate_is_found(files, tmp_path, public):
    sign(files, KEY)
    assert run_verify(write_zip(files, tmp_path / "sound.zip"), "--key", public).exit_code == 0
    changes = {f"changed {name}": files | {name: content + b" "} for name, content in files.items()}
    changes |= {f"without {name}": {key: files[key] for key in files if key != name} for name in files}
    changes["with more"] = files | {"snapshots/" + "0" * 64 + ".txt": b"x"}
    for change, forged_files in changes.items():
        answer = run_verify(write_zip(forged_files, tmp_path / "forged.zip"), "--key", public)
        assert answer.exit_code == 1, change
    for name in ("manifest.sha256", "manifest.sha256.sig"):
        del files[name]
    answer = run_verify(write_zip(files, tmp_path / "forged.zip"), "--key", public)
    assert (answer.exit_code, "- It is not signed.\n" in answer.stdout) == (1, True)


def test_a_crate_signed_with_another_key_is_refused(files, tmp_path, public):
    sign(files, OTHER_KEY)
    answer = run_verify(write_zip(files, tmp_path / "crate.zip"), "--key", public)
    sentence = f"- Its signature is not one of the key {fingerprint(KEY.public_key())} for these files.\n"
    assert (answer.exit_code, sentence in answer.stdout) == (1, True), answer.output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file or directory."),
        (b"", "holds no public key that can be read."),
        (b"\xff\xfe\0", "holds no public key that can be read."),
        (b"-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----\n", "holds no public key that can be read."),
        (PRIVATE["openssl"], "holds a private key. --key takes the public one"),
        (PRIVATE["ssh-keygen"], "holds a private key. --key takes the public one"),
        (CURVE_KEY.public_key().public_bytes(PEM, SPKI), "is no Ed25519 key."),
        (CURVE_KEY.public_key().public_bytes(SSH, SSH_PUBLIC), "is no Ed25519 key."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # keys are made anew, and differ between processes
)  # fmt: skip
def test_a_public_key_that_cannot_be_used_is_one_sentence(files, tmp_path, content, words):
    place = tmp_path / "key"
    if content is not None:
        place.write_bytes(content)
    answer = run_verify(write_zip(files, tmp_path / "crate.zip"), "--key", place)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert words in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file or directory."),
        (b"x", "holds no private key in PEM."),
        (PUBLIC["openssl"], "holds no private key in PEM."),
        (PUBLIC["ssh-keygen"], "holds no private key in PEM."),
        (b"-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n", "holds no private key that can be read."),
        (b"-----BEGIN OPENSSH PRIVATE KEY-----\nx\n", "holds no private key that can be read."),
        (LOCKED, "has a passphrase."),
        (CURVE_KEY.private_bytes(PEM, PKCS8, NO_PASSPHRASE), "is no Ed25519 key."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # keys are made anew, and differ between processes
)  # fmt: skip
def test_a_private_key_that_cannot_be_used_is_one_sentence(tmp_path, content, words):
    place = tmp_path / "key"
    if content is not None:
        place.write_bytes(content)
    with pytest.raises(KeyRefused) as refused:
        read_private_key(place)
    [sentence] = str(refused.value).splitlines()
    assert words in sentence


@pytest.mark.skipif(not (shutil.which("openssl") and shutil.which("sha256sum")), reason="without them")
def test_openssl_and_sha256sum_check_a_signed_crate_too(files, tmp_path, public):
    sign(files, KEY)
    for name, content in files.items():
        (tmp_path / "crate" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "crate" / name).write_bytes(content)
    signature = "-sigfile manifest.sha256.sig -in manifest.sha256"
    for command in (
        "sha256sum --check --strict --quiet manifest.sha256",
        f"openssl pkeyutl -verify -pubin -inkey {public} -rawin {signature}",
    ):
        subprocess.run(command.split(), cwd=tmp_path / "crate", check=True, capture_output=True, timeout=60)
    assert read_public_key(public).public_bytes_raw() == KEY.public_key().public_bytes_raw()
