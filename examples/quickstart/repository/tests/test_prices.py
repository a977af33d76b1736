"""The prices from 1 April."""

import unittest

from parcels.prices import price


class Prices(unittest.TestCase):
    def test_by_weight(self):
        self.assertEqual([price("city", 1), price("country", 2), price("abroad", 1)], [390, 1080, 1290])
