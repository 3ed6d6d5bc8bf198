"""Where the records live. Every store keeps the contract of `rookery.ports.Store`."""
