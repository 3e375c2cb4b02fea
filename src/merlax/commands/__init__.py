"""The commands of `merlax`: each is a function of its arguments; its options are the fields of a dataclass."""
