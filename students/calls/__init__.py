"""Calls: how a model is asked, what is stored of it, what it may cost."""
