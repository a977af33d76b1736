"""What a message must look like. Pure: no clock, no disk, no network, no dice.

The path of a message, one module each: `reading` (1 parse), `registry` (2 identify), `normalising` (3),
`validating` (4); `checking` is the list of these steps. `catalogue/` holds one file per contract.
"""
