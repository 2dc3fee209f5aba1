"""The Python tier: users' processors and functions of Python values, one instance per task, in Spark's workers."""
