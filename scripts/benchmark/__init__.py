"""The parts of `scripts/bench`: each file measures one thing and says how."""
