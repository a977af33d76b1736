"""The contracts that come with accordance, one module each; `builtin` lists them.

The package itself imports none of them: most users need a single one.
"""
