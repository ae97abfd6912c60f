"""Tiny models, a few operators each, with the bytes that TensorFlow Lite Micro computes for them."""
