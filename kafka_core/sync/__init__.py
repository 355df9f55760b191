"""The blocking clients: thin faces over the asyncio ones on a loop thread of their own."""
