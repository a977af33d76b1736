"""Prices end in 0 or 5."""

import unittest

from parcels.rounding import to_five


class Rounding(unittest.TestCase):
    def test_nearest(self):
        self.assertEqual([to_five(one) for one in (390, 391, 393, 394)], [390, 390, 395, 395])
