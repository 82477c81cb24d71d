"""Clusters: one of several nodes on this machine, and jobs on any, through Ray's Jobs API.

access.py   how a cluster is reached: its address, and the file with its token
local.py    several raylets on this machine, started and stopped together
ship.py     the folder of code and config that a job takes along
probe.py    runs on the cluster: what its nodes have, and what they see
checks.py   whether that suffices for a config
jobs.py     submit, follow, list, stop, resume
"""
