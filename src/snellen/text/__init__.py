"""Reading and comparing text."""
