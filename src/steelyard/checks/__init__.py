"""Does a robot obey physics: laws, findings, Pinocchio's numbers, states to try."""
