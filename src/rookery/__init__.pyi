from rookery.client import AsyncClient as AsyncClient
from rookery.client import Client as Client
from rookery.client import RookeryError as RookeryError

__version__: str
