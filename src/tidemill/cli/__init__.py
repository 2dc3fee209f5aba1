"""The `tidemill` command."""
