"""Signatures of crates: Ed25519 over a list of the hashes of all files, so none can be changed, added or removed.

The list is as `sha256sum` writes it, and the signature its 64 bytes alone, so sha256sum and openssl check both too.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from chiron_api.crate.archive import Archive, read
from chiron_api.crate.layout import JSON_BYTES_MAX, MANIFEST, SIGNATURE, SIGNING_FILES
from chiron_api.text import one_line
from chiron_workers.errors import ChironError

if TYPE_CHECKING:  # a tenth of a second, which most reports and checks need not take
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_BYTES_MAX = 64 * 1024
SIGNATURE_BYTES = 64
PRIVATE_MARK, SSH_MARK = b"PRIVATE KEY-----", b"-----BEGIN OPENSSH PRIVATE KEY-----"


class KeyRefused(ChironError):
    """A key file cannot be read, or holds no key of the kind that is needed."""


class SignatureState(StrEnum):
    """What is known of the signature of a crate."""

    ABSENT = "absent"
    UNCHECKED = "unchecked"
    VALID = "valid"
    INVALID = "invalid"


def read_private_key(path: Path) -> "Ed25519PrivateKey":
    """The key to sign with, of `openssl genpkey` or `ssh-keygen`. Raises KeyRefused."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    content = _key_bytes(path)
    if PRIVATE_MARK not in content:
        raise KeyRefused(
            f"{path} holds no private key in PEM. --sign takes the private one of your key pair."
        )
    is_ssh = SSH_MARK in content
    load = serialization.load_ssh_private_key if is_ssh else serialization.load_pem_private_key
    try:
        key = load(content, password=None)
    except (TypeError, UnsupportedAlgorithm):
        raise KeyRefused(f"{path} has a passphrase. Sign with a copy of the key that has none.") from None
    except ValueError:
        raise KeyRefused(f"{path} holds no private key that can be read.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyRefused(f"The key in {path} is no Ed25519 key.")
    return key


def read_public_key(path: Path) -> "Ed25519PublicKey":
    """The key to check with: PEM, or the line of a `.pub` file of ssh-keygen. Raises KeyRefused."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = _key_bytes(path)
    if PRIVATE_MARK in content:
        raise KeyRefused(
            f"{path} holds a private key. --key takes the public one, which its owner hands out."
        )
    is_pem = b"-----BEGIN" in content
    load = serialization.load_pem_public_key if is_pem else serialization.load_ssh_public_key
    try:
        key = load(content)
    except (ValueError, UnsupportedAlgorithm):
        raise KeyRefused(f"{path} holds no public key that can be read.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyRefused(f"The key in {path} is no Ed25519 key.")
    return key


def fingerprint(key: "Ed25519PublicKey") -> str:
    """The key in short, as `ssh-keygen -l` prints it."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    line = key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    digest = hashlib.sha256(b64decode(line.split()[1])).digest()
    return f"SHA256:{b64encode(digest).decode().rstrip('=')}"


def manifest(hashes: Mapping[str, str]) -> bytes:
    """The hashes of all files that a signature covers, by name, as `sha256sum` lists them."""
    names = sorted(hashes.keys() - set(SIGNING_FILES))
    return "".join(f"{hashes[name]}  {name}\n" for name in names).encode()


def signature_state(
    archive: Archive, hashes: Mapping[str, str], key: "Ed25519PublicKey | None"
) -> SignatureState:
    """Whether the key has signed exactly these files."""
    from cryptography.exceptions import InvalidSignature

    if not any(name in archive.sizes for name in SIGNING_FILES):
        return SignatureState.ABSENT
    if any(check_manifest(archive, hashes)):
        return SignatureState.INVALID
    if key is None:
        return SignatureState.UNCHECKED
    try:
        key.verify(read(archive, SIGNATURE, bytes_max=SIGNATURE_BYTES), manifest(hashes))
    except InvalidSignature:
        return SignatureState.INVALID
    return SignatureState.VALID


def check_signature(
    archive: Archive, hashes: Mapping[str, str], key: "Ed25519PublicKey | None", state: SignatureState
) -> Iterator[str]:
    """Why a crate does not count as signed with the key, and what was changed since it was signed."""
    if state is SignatureState.ABSENT and key is not None:
        yield "It is not signed."
    if state is SignatureState.INVALID:
        faults = list(check_manifest(archive, hashes))
        yield from faults
        if key is not None and not faults:
            yield f"Its signature is not one of the key {fingerprint(key)} for these files."


def check_manifest(archive: Archive, hashes: Mapping[str, str]) -> Iterator[str]:
    """What differs from the list of files that was signed."""
    for name in SIGNING_FILES:
        if name not in archive.sizes:
            yield f"{name} is missing, which belongs to its signature."
            return
    if archive.sizes[SIGNATURE] != SIGNATURE_BYTES:
        yield f"{SIGNATURE} is no signature."
    content = read(archive, MANIFEST, bytes_max=JSON_BYTES_MAX)
    if content == manifest(hashes):
        return
    lines = content.decode(errors="replace").splitlines()
    signed_hashes = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    names = hashes.keys() - set(SIGNING_FILES)
    for name in sorted(names - signed_hashes.keys()):
        yield f"{one_line(name)} was not signed."
    for name in sorted(signed_hashes.keys() - names):
        yield f"{one_line(name)} was signed and is missing."
    changes = sorted(name for name in names & signed_hashes.keys() if signed_hashes[name] != hashes[name])
    for name in changes:
        yield f"{one_line(name)} is not the file that was signed."
    if signed_hashes == {name: hashes[name] for name in names}:
        yield f"{MANIFEST} is not as Chiron writes it."


def _key_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(KEY_BYTES_MAX)
    except OSError as error:
        raise KeyRefused(f"The key file {path} cannot be read: {error.strerror or error}.") from None
