"""Traces and logs: what a process did, for people and their collectors.

Nothing decides by it. While it is off, nothing of OpenTelemetry is imported.
"""
