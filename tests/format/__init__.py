"""The plan file and the runtime that reads it: round trips, old plans, hostile plans, the C interface."""
