"""What can be done, in verbs: a service checks access, changes state and records facts in one transaction."""
