"""All parts of the store's contract in one class."""

from rookery.testing.stores.agents import AgentContract
from rookery.testing.stores.approvals import ApprovalContract
from rookery.testing.stores.asks import AskContract
from rookery.testing.stores.channels import ChannelContract
from rookery.testing.stores.deliveries import DeliveryContract
from rookery.testing.stores.export import ExportContract
from rookery.testing.stores.held import HeldContract
from rookery.testing.stores.histories import HistoryContract
from rookery.testing.stores.inbox import InboxContract
from rookery.testing.stores.journal import JournalContract
from rookery.testing.stores.lifecycle import LifecycleContract
from rookery.testing.stores.messages import MessageContract
from rookery.testing.stores.papers import PaperContract
from rookery.testing.stores.pruning import PruningContract
from rookery.testing.stores.reading import ReadingContract
from rookery.testing.stores.rules import RuleContract
from rookery.testing.stores.search import SearchContract
from rookery.testing.stores.tasks import TaskContract
from rookery.testing.stores.tokens import PacingContract, TokenContract
from rookery.testing.stores.traces import TraceContract
from rookery.testing.stores.transactions import TransactionContract


class StoreContract(
    AgentContract,
    MessageContract,
    SearchContract,
    DeliveryContract,
    InboxContract,
    JournalContract,
    ChannelContract,
    TokenContract,
    PacingContract,
    PaperContract,
    AskContract,
    TaskContract,
    RuleContract,
    ApprovalContract,
    HeldContract,
    TraceContract,
    TransactionContract,
    ReadingContract,
    PruningContract,
    ExportContract,
    LifecycleContract,
    HistoryContract,
):
    """Every sentence of `rookery.ports` about a store.

    Damage and full disks are for the store's own tests: how to bring them about differs from store to store.
    """
