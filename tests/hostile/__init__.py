"""Files made to break the compiler: each converts correctly or is refused in one clear sentence."""
