"""Test helpers: pytest fixtures with a real broker and a real Spark session."""
