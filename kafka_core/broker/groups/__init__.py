"""Groups of the embedded broker: the coordinators of both protocols, one group of each, and the way between them."""
