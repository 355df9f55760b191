"""What a member of a share group decides: sessions with brokers, what it holds, what it asks for next (KIP-932)."""
