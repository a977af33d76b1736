"""Asking a model until its answer honours a contract."""
