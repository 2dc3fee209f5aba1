"""The Python tier: users' processors and functions of Python values, in Spark's workers."""
