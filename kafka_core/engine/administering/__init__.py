"""Requests and answers of an admin client: requests from arguments, results from answers."""
