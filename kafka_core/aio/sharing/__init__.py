"""The share consumer on its event loop, and its asyncio face."""
