from hopwright_search.taskset import SearchTaskset

__all__ = ["SearchTaskset"]
