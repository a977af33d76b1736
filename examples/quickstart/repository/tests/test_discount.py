"""Who sends a lot pays less."""

import unittest

from parcels.discount import discounted


class Discount(unittest.TestCase):
    def test_from_ten_parcels(self):
        self.assertEqual([discounted(395, one) for one in (1, 9, 10)], [395, 395, 355])
