"""The thresholds that decide a word, each with a decision on either side.

`tests/house/code/test_thresholds.py` moves every one of them.
"""
