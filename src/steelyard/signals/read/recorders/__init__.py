"""What particular recorders write: types of messages of ROS, data sets of LeRobot, CSV of ur_rtde."""
