"""The command line: thin faces of the library. Nothing heavy is imported before a command needs it."""
