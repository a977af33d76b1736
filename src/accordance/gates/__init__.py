"""The gates of a verdict: each answers one question about an attempt. Pure."""
