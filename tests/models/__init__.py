"""Whole published models."""
