"""The trust benchmark: does the doctor find what is planted, and does a verdict hold on unseen motion (`python -m benchmarks.trust`)."""
