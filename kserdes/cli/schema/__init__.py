"""The command `kserdes schema`: checks, diffs, lint and registry administration for people and for CI.

Must not be imported by anything but `kserdes.cli`. Commands are loaded when they are called, so that the command line
starts fast; the modules without `click` in them can be used as a library.
"""
