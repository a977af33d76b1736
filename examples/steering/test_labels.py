"""What labels have to show."""

import unittest

from labels import label


class Labels(unittest.TestCase):
    """A price with its currency."""

    def test_euros_and_cents(self):
        """Two digits after the point, then the currency."""
        self.assertEqual([label(5), label(250)], ["0.05 EUR", "2.50 EUR"])
