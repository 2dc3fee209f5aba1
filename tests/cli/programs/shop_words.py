"""A module beside the program, as users have them."""


def loud(word: str) -> str:
    return word.upper()
