"""The contracts that come with accordance, each in its module; `builtin` lists them.

The package itself imports none of them: most users need a single contract.
"""
