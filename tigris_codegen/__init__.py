"""Tigris: compiles a .tflite model for a microcontroller board into a firmware project."""
