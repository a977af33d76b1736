"""What a message must look like. Pure: no clock, no disk, no network, no dice.

A message takes four steps, each in a module: `reading` (1 parse), `registry` (2
identify), `normalising` (3) and `validating` (4). `checking` and `conforming` put them
together. `catalogue/` has a file for each contract.
"""
