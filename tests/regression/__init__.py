"""One test per fault that was found, so that it stays found."""
