"""Other cards: what is published of them, and what a step of this workload would take there."""

from .catalog import Card, CardError, cards, find, of_device
from .roofline import Forecast, Host, forecast

__all__ = ["Card", "CardError", "Forecast", "Host", "cards", "find", "forecast", "of_device"]
