"""The command line: thin commands on the library and the service.

Nothing heavy is imported before a command needs it.
"""
