"""Environments for agents that search: tasks with proven hops, tools, transcripts, their verification, rewards."""
