"""A simulator of the registry client's and the serializers' flows: many callers, one seed that decides everything.

Callers share one client (`shells_aio`: tasks on a loop whose time is virtual; `shells_threads`: real threads of which
one runs at a time, switched at lines that the seed chooses) and a model of a registry behind a bad network (`world`).
What they are told is checked against the registry's history (`checks`). `python -m tests.simulation_flows` runs seeds.
"""
