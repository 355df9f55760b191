"""The client's logic without I/O: events and the time go in, requests and the next deadline come out."""
