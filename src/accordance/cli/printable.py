"""Texts from agents, on somebody's terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Without what could steer a terminal: paths, titles and commands come from agents."""
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)
