"""A leaderboard of the policies of pairs: ``python -m benchmarks.arena``."""
