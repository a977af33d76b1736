"""The gates of a verdict: each answers a question about an attempt. Pure."""
