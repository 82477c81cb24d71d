"""Benchmarks: speed and size as ratios, measured side by side in one run."""
