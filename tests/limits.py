"""How long tests wait for what is sure to come."""

LIMIT = 600
"""Seconds after which a test that hangs is ended: no test may fail because the machine is busy."""
