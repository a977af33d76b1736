"""Errors about who may do what."""

from __future__ import annotations

from accordance.errors.base import AccordanceError, Category


class NotAuthenticated(AccordanceError):
    """The request has no key, or its key is unknown, revoked or expired."""

    code = "not-authenticated"
    category = Category.AUTH


class NotAllowed(AccordanceError):
    """The key or the person may not do this."""

    code = "not-allowed"
    category = Category.AUTH
