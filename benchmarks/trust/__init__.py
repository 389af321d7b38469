"""The trust benchmark: findings of the doctor and verdicts on unseen motion."""
