from tests.support.operators import alice, bob

__all__ = ["alice", "bob"]
