"""A signature over an evidence bundle: an in-toto Statement in a DSSE envelope.

The subjects are the bundle's manifest, which holds the hash of every other file, and
the tree that was judged, by git's id (compare `git rev-parse COMMIT^{tree}`). The
predicate names the task, the attempt and the verdict. Signing uses Ed25519 and works
offline; it needs the extra `attest`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from accordance.workspace.bundle import ATTESTATION, MANIFEST
from accordance.workspace.errors import BundleBroken, WorkspaceError

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined]

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
PREDICATE_TYPE: Final = "urn:accordance:verdict:v1"
_MAX_KEY_BYTES: Final = 1 << 16
_TREE: Final = "tree"
_GIT_TREE: Final = "gitTree"  # in-toto's name for such an id
_HOW_TO_INSTALL: Final = "signing needs the extra: pip install 'accordance[attest]'"


def check_key(private: Path) -> None:
    """Raise WorkspaceError unless this key can sign."""
    _signer(private)


def sign_bundle(folder: Path, private: Path, about: Mapping[str, str]) -> Path:
    """Sign the bundle's manifest and return the place of the attestation."""
    signer = _signer(private)
    envelope = _signed(_statement(folder, about), signer)
    place = folder / ATTESTATION
    place.write_text(json.dumps(envelope), "utf-8")
    return place


def verify_bundle(folder: Path, public: Path) -> dict[str, str]:
    """Return what was attested, if the signature holds. Raises BundleBroken.

    It holds if it was made with this key, over the manifest of this bundle.
    """
    payload_type, statement = _signed_statement(folder, public)
    try:
        predicate_type = statement["predicateType"]
        about = dict(statement["predicate"])
        subjects = {
            subject["name"]: dict(subject["digest"]) for subject in statement["subject"]
        }
    except (ValueError, KeyError, TypeError):
        raise BundleBroken(f"{ATTESTATION} of {folder} cannot be read") from None

    if payload_type != PAYLOAD_TYPE or predicate_type != PREDICATE_TYPE:
        raise BundleBroken(f"{ATTESTATION} of {folder} attests something else")
    if subjects != _subjects(folder, about):
        raise BundleBroken(f"{MANIFEST} of {folder} is not what was signed")
    return about


def _signed_statement(folder: Path, public: Path) -> tuple[str, Any]:
    """Return the type and the content of what was signed. Raises BundleBroken."""
    key = _public_key(public)
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import FormatError, VerificationError

    try:
        text = (folder / ATTESTATION).read_text("utf-8")
        envelope = Envelope.from_dict(json.loads(text))
        envelope.verify([key], 1)
        return envelope.payload_type, json.loads(envelope.payload)
    except FileNotFoundError:
        raise BundleBroken(f"{folder} is not signed: it has no {ATTESTATION}") from None
    except (VerificationError, FormatError):
        raise BundleBroken(
            f"the signature of {folder} was not made with this key, or its content was "
            "changed"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise BundleBroken(f"{ATTESTATION} of {folder} cannot be read") from None


def _statement(folder: Path, about: Mapping[str, str]) -> bytes:
    """Return an in-toto Statement about a bundle."""
    try:
        from google.protobuf.json_format import MessageToJson
        from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor  # type: ignore[import-untyped]
        from in_toto_attestation.v1.statement import Statement  # type: ignore[import-untyped]
    except ImportError:
        raise WorkspaceError(_HOW_TO_INSTALL) from None

    subjects = []
    for name, digest in _subjects(folder, about).items():
        subject = ResourceDescriptor(name=name, digest=digest)
        subject.validate()
        subjects.append(subject.pb)

    statement = Statement(subjects, PREDICATE_TYPE, dict(about))
    statement.validate()
    return str(MessageToJson(statement.pb)).encode()


def _subjects(folder: Path, about: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the digests of what is signed, by name.

    That is the bundle and, where git can name it, the tree that was judged.
    """
    subjects = {MANIFEST: {"sha256": _digest(folder)}}
    tree = about.get("tree")
    if tree:
        subjects[_TREE] = {_GIT_TREE: tree}
    return subjects


def _digest(folder: Path) -> str:
    try:
        manifest = (folder / MANIFEST).read_bytes()
    except OSError:
        raise BundleBroken(
            f"{folder} is not an evidence bundle: it has no readable {MANIFEST}"
        ) from None
    return hashlib.sha256(manifest).hexdigest()


def _crypto_signer() -> type[CryptoSigner]:
    """Return the class of signers. Raises WorkspaceError without the extra."""
    try:
        from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]
    except ImportError:
        raise WorkspaceError(_HOW_TO_INSTALL) from None
    return CryptoSigner


def _signer(private: Path) -> CryptoSigner:
    signer_class = _crypto_signer()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return signer_class(load_pem_private_key(_key_in(private), None))
    except (OSError, ValueError, TypeError):
        raise WorkspaceError(f"{private} holds no readable private key") from None


def _public_key(public: Path) -> SSlibKey:
    _crypto_signer()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

    try:
        return SSlibKey.from_crypto(load_pem_public_key(_key_in(public)))
    except (OSError, ValueError, TypeError):
        raise WorkspaceError(f"{public} holds no readable public key") from None


def _key_in(file: Path) -> bytes:
    """Return the content of a key file, bounded; an unwritten pipe counts as empty."""
    flags = os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(file, flags)
    with os.fdopen(descriptor, "rb") as stream:
        os.set_blocking(descriptor, True)
        return stream.read(_MAX_KEY_BYTES)


def sign(payload: bytes, private: Path) -> dict[str, object]:
    """Return a signed DSSE envelope around an in-toto Statement."""
    return _signed(payload, _signer(private))


def _signed(payload: bytes, signer: CryptoSigner) -> dict[str, object]:
    from securesystemslib.dsse import Envelope

    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    signed: dict[str, object] = envelope.to_dict()
    return signed


def signed_by(envelope: dict[str, object], public: Path) -> bool:
    """Whether an envelope is unchanged since it was signed with this key."""
    key = _public_key(public)
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import FormatError, VerificationError

    try:
        Envelope.from_dict(envelope).verify([key], 1)
    except (VerificationError, FormatError, ValueError, KeyError, TypeError):
        return False
    return True
