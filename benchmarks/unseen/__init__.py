"""Identification judged on robots and logs that share no code with the package.

The plant is written on Pinocchio (`plant`), the competitors with NumPy and SciPy (`plain`). Seeds 0
to 99 are for development; published figures come from seeds of 1000 and above.
"""
