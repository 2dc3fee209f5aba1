"""The words that lines and opinions are made of."""

_LINES = """
the tide turns the mill and the mill grinds the grain while water runs under the wheel by the sea
a stream of records flows to the table and every window of time holds a sum
"""
_OPINIONS = """
good great lovely perfect happy fast love bad slow broken awful sad terrible hate
the a this it was is delivery box price colour sound screen really very
"""

WORDS = tuple(_LINES.split())
OPINIONS = tuple(_OPINIONS.split())
