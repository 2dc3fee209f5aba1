"""The benchmark: the same work for Tidemill and its peers, on one broker, with every result checked."""
