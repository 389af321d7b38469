"""Children and threads: whether they are right and finish, round after round."""
