"""The judge of the conformance tests: the real Kafka Streams, driven from a declared topology."""
