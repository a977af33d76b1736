"""The face for programs and browsers: the HTTP API of one project or several."""
