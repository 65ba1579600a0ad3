"""Benchmarks: what the engine costs, beside what the machine can do in the same run. Never timed in tests."""
