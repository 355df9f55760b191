"""The embedded registry itself, and the ways to reach it: in this process, or over HTTP."""
