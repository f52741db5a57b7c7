"""Difficulty filtering: votes of solvers and models."""
