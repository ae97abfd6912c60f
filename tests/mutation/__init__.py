"""Whether the project's own checks notice a broken runtime or planner."""
