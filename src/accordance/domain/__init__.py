"""What the parts of the domain mean, and what follows from them.

Pure: it decides from values and acts nowhere.
"""
