"""The difficulty filter: an ensemble of voters answers, and what too many get right is dropped."""

from hopwright.difficulty.filtering import filter_items
from hopwright.difficulty.report import summarise_votes
from hopwright.difficulty.shortcuts import shortcut_voters
from hopwright.difficulty.voters import Choice, Voter, view, vote

__all__ = ["Choice", "Voter", "filter_items", "shortcut_voters", "summarise_votes", "view", "vote"]
