"""Formats amounts for people: money, durations, and percentages."""

import math


def money(amount: float, currency: str | None) -> str:
    """Format an amount of money with two decimals. Amounts below 1 have three significant digits,
    so that they are never shown as zero.

    >>> [money(amount, "USD") for amount in (1234.5, 0.0123, 0.0000056)]
    ['1,234.50 USD', '0.0123 USD', '0.00000560 USD']
    """
    decimals = 2 - math.floor(math.log10(amount)) if 0 < amount < 1 else 2
    return f"{amount:,.{decimals}f} {currency or ''}".rstrip()


def duration(seconds: float) -> str:
    """Format a duration in seconds, minutes, or hours.

    >>> [duration(seconds) for seconds in (7, 75, 7500)]
    ['7 s', '1 min 15 s', '2 h 5 min']
    """
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


def counted(n: int, singular: str, plural: str) -> str:
    """Format a number with the words that it counts.

    >>> counted(1, "reply is", "replies are"), counted(1200, "reply is", "replies are")
    ('1 reply is', '1,200 replies are')
    """
    return f"{n:,} {singular if n == 1 else plural}"


def percent(fraction: float) -> str:
    """Format a fraction as a percentage, as in the tables of reports.

    >>> percent(0.059)
    '5.90 %'
    """
    return f"{100 * fraction:z,.2f} %"
