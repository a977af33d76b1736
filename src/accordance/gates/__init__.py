"""One question each, answered from facts. Pure."""
