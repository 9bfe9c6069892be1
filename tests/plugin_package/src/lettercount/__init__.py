"""A plug-in for Snellen."""
