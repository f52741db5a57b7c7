"""What worker processes run, one module a stage. Nothing here imports Prefect: it would cost every worker a second.

What is slow to import (plots, statistics, Label Studio's SDK) is imported by the functions that need it, because the
parent process imports these modules too, for the names of the functions.
"""
