"""The rules a topology must keep, by subject; `topology/validation.py` holds their order."""
