"""The face for agents that use MCP."""
