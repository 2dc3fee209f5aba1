"""Kafka itself: Java and jars, the embedded cluster, admin and clients; knows nothing of the rest."""
