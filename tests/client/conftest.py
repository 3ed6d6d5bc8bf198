from tests.support.fixtures import hub, hub_factory, open_hub, shared_hub

__all__ = ["hub", "hub_factory", "open_hub", "shared_hub"]
