"""What an admin client asks for: requests from arguments, results from answers."""
