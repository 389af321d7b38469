"""What is claimed of motions worth recording, measured."""
