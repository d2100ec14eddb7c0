"""Staying in step: what changed is read again, and what was erased leaves every byte."""
