"""Models asked directly, through pydantic-ai's model layer. Needs the extra `llm`."""
