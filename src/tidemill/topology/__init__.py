"""The topology: what a program does, as plain data that knows neither Spark nor Kafka."""
