"""Reports: for people, scripts, CI servers and code hosts."""
