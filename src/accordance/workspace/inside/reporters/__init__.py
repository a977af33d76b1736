"""What is laid beside the tests to report them. Never imported by accordance itself."""
