"""The application: what every face calls.

Values go in, views come out; nothing here prints or knows of options.
"""
