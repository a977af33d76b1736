"""Keys to sign with, as `openssl genpkey -algorithm ed25519` makes them."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)


def new_key(private: Path, public: Path) -> None:
    """Write a new key pair to two files."""
    key = Ed25519PrivateKey.generate()
    private_half = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public_half = key.public_key().public_bytes(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )
    private.write_bytes(private_half)
    public.write_bytes(public_half)
