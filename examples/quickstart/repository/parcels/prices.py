"""Prices by zone, in cents for each kilogram."""

PRICES = {
    "city": 350,
    "country": 490,
    "abroad": 1190,
}


def price(zone: str, kilograms: int) -> int:
    """What a parcel costs."""
    return PRICES[zone] * kilograms
