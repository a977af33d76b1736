"""Express parcels cost half as much again, and at least five euros."""

import unittest

from parcels.express import express


class Express(unittest.TestCase):
    def test_surcharge(self):
        self.assertEqual([express(200), express(1000)], [500, 1500])
