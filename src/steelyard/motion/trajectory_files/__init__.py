"""Motions as files: tables, ROS messages, programs of robot controllers."""
