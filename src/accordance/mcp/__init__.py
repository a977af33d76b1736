"""The engine's face for agents that speak MCP."""
