"""Coding agents with a command line: codex, opencode, Claude Code."""
