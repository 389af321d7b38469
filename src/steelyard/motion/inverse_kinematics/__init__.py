"""From the pose of a frame to the positions of joints."""
