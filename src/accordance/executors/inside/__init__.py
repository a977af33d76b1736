"""Small programs that run inside a sandbox beside an agent.

Standard library only, and quick to start.
"""
