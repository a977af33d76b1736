"""A signature over an evidence bundle: an in-toto Statement in a DSSE envelope, Ed25519, offline.

The subjects are the bundle's manifest, which holds the hash of every other file, and the tree that was judged, by git's id
(compare `git rev-parse COMMIT^{tree}`); the predicate says which task, which attempt, which verdict. Needs the extra `attest`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from accordance.workspace.bundle import ATTESTATION, MANIFEST
from accordance.workspace.errors import BundleBroken, WorkspaceError

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined]

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
PREDICATE_TYPE: Final = "urn:accordance:verdict:v1"
_LONGEST_KEY: Final = 1 << 16
_TREE: Final = "tree"
_GIT_TREE: Final = "gitTree"  # in-toto's name for such an id
_HOW: Final = "signing needs the extra: pip install 'accordance[attest]'"


def new_key(private: Path, public: Path) -> None:
    """Make an Ed25519 key pair; the private half is readable by its owner only."""
    _crypto_signer()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    key = Ed25519PrivateKey.generate()
    private.touch(mode=0o600, exist_ok=False)
    private.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    public.write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )


def _crypto_signer() -> type[CryptoSigner]:
    try:
        from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]
    except ImportError:
        raise WorkspaceError(_HOW) from None
    return CryptoSigner


def check_key(private: Path) -> None:
    """Make sure that this key can sign. Raises WorkspaceError."""
    _signer(private)


def sign_bundle(folder: Path, private: Path, about: Mapping[str, str]) -> Path:
    """Sign the bundle's manifest and return the place of the attestation."""
    signer = _signer(private)
    from securesystemslib.dsse import Envelope

    envelope = Envelope(_statement(folder, about), PAYLOAD_TYPE, {})
    envelope.sign(signer)
    place = folder / ATTESTATION
    place.write_text(json.dumps(envelope.to_dict()), "utf-8")
    return place


def verify_bundle(folder: Path, public: Path) -> dict[str, str]:
    """What was attested, if the signature holds and is about this manifest. Raises BundleBroken."""
    key = _public_key(public)
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import FormatError, VerificationError

    try:
        envelope = Envelope.from_dict(
            json.loads((folder / ATTESTATION).read_text("utf-8"))
        )
        envelope.verify([key], 1)
        statement = json.loads(envelope.payload)
        subjects = {
            subject["name"]: dict(subject["digest"]) for subject in statement["subject"]
        }
        about = dict(statement["predicate"])
    except FileNotFoundError:
        raise BundleBroken(f"{folder} has no {ATTESTATION}: nobody signed it") from None
    except (VerificationError, FormatError):
        raise BundleBroken(
            f"the signature of {folder} was not made with this key, or what it signs was changed"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise BundleBroken(f"{ATTESTATION} of {folder} cannot be read") from None
    if (
        envelope.payload_type != PAYLOAD_TYPE
        or statement["predicateType"] != PREDICATE_TYPE
    ):
        raise BundleBroken(f"{ATTESTATION} of {folder} attests something else")
    if subjects != _subjects(folder, about):
        raise BundleBroken(f"{MANIFEST} of {folder} is not the one that was signed")
    return about


def _statement(folder: Path, about: Mapping[str, str]) -> bytes:
    try:
        from google.protobuf.json_format import MessageToJson  # type: ignore[import-untyped]
        from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor  # type: ignore[import-untyped]
        from in_toto_attestation.v1.statement import Statement  # type: ignore[import-untyped]
    except ImportError:
        raise WorkspaceError(_HOW) from None
    subjects = [
        ResourceDescriptor(name=name, digest=digest)
        for name, digest in _subjects(folder, about).items()
    ]
    for subject in subjects:
        subject.validate()
    statement = Statement(
        [subject.pb for subject in subjects], PREDICATE_TYPE, dict(about)
    )
    statement.validate()
    return str(MessageToJson(statement.pb)).encode()


def _subjects(folder: Path, about: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What a signature is about: the bundle and, where git can name it, the tree that was judged."""
    tree = {_TREE: {_GIT_TREE: about["tree"]}} if about.get("tree") else {}
    return {MANIFEST: {"sha256": _digest(folder)}, **tree}


def _digest(folder: Path) -> str:
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        raise BundleBroken(
            f"{folder} has no readable {MANIFEST}; it is no evidence bundle"
        ) from None


def _signer(private: Path) -> CryptoSigner:
    signer = _crypto_signer()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return signer(load_pem_private_key(_key_in(private), None))
    except (OSError, ValueError, TypeError):
        raise WorkspaceError(
            f"{private} holds no private key that can be read"
        ) from None


def _public_key(public: Path) -> SSlibKey:
    _crypto_signer()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

    try:
        return SSlibKey.from_crypto(load_pem_public_key(_key_in(public)))
    except (OSError, ValueError, TypeError):
        raise WorkspaceError(f"{public} holds no public key that can be read") from None


def sign(payload: bytes, private: Path) -> dict[str, object]:
    """A DSSE envelope around an in-toto Statement."""
    signer = _signer(private)
    from securesystemslib.dsse import Envelope

    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    signed: dict[str, object] = envelope.to_dict()
    return signed


def signed_by(envelope: dict[str, object], public: Path) -> bool:
    """Whether an envelope was signed with the private half of a key, and what is in it was not changed."""
    key = _public_key(public)
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import FormatError, VerificationError

    try:
        Envelope.from_dict(envelope).verify([key], 1)
    except (VerificationError, FormatError, ValueError, KeyError, TypeError):
        return False
    return True


def _key_in(file: Path) -> bytes:
    """The content of a key's file, no more than a key has; a pipe that nobody writes into is empty."""
    number = os.open(file, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, "rb") as stream:
        os.set_blocking(number, True)
        return stream.read(_LONGEST_KEY)
