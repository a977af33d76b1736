"""The face for Python programs elsewhere: a typed client of the HTTP API."""
