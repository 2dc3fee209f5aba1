"""Scenarios, and the tests that hold Tidemill to what Kafka Streams says about them."""
