"""Everything a client can do, once for both kinds."""

from rookery.client import agents as about_agents
from rookery.client import approvals as about_approvals
from rookery.client import channels as about_channels
from rookery.client import contact as about_contact
from rookery.client import hub as about_hub
from rookery.client import inbox as about_inbox
from rookery.client import messages as about_messages
from rookery.client import rules as about_rules
from rookery.client import tasks as about_tasks
from rookery.client.operation import Operation


class Operations:
    """Methods answer with the structs of `rookery.wire.responses` and raise `RookeryError`s."""

    me = Operation(about_agents.me)
    agents = Operation(about_agents.agents)
    agent = Operation(about_agents.agent)
    update = Operation(about_agents.update)
    rename = Operation(about_agents.rename)
    delete = Operation(about_agents.delete)
    heartbeat = Operation(about_agents.heartbeat)
    sleep = Operation(about_agents.sleep)
    wake = Operation(about_agents.wake)
    new_token = Operation(about_agents.new_token)
    revoke_tokens = Operation(about_agents.revoke_tokens)

    send = Operation(about_messages.send)
    broadcast = Operation(about_messages.broadcast)
    reply = Operation(about_messages.reply)
    message = Operation(about_messages.message)
    thread = Operation(about_messages.thread)
    search = Operation(about_messages.search)

    inbox = Operation(about_inbox.inbox)
    read = Operation(about_inbox.read)
    claim = Operation(about_inbox.claim)
    complete = Operation(about_inbox.complete)
    mark_read = Operation(about_inbox.mark_read)
    clear = Operation(about_inbox.clear)
    unread = Operation(about_inbox.unread)
    stats = Operation(about_inbox.stats)
    queue_stats = Operation(about_inbox.queue_stats)

    channels = Operation(about_channels.channels)
    channel = Operation(about_channels.channel)
    create_channel = Operation(about_channels.create_channel)
    join_channel = Operation(about_channels.join_channel)
    leave_channel = Operation(about_channels.leave_channel)
    archive_channel = Operation(about_channels.archive_channel)
    history = Operation(about_channels.history)

    ask = Operation(about_contact.ask)
    delegate = Operation(about_contact.delegate)
    notify = Operation(about_contact.notify)
    conversation = Operation(about_contact.conversation)

    tasks = Operation(about_tasks.tasks)
    task = Operation(about_tasks.task)
    complete_task = Operation(about_tasks.complete_task)
    cancel_task = Operation(about_tasks.cancel_task)

    rules = Operation(about_rules.rules)
    allow = Operation(about_rules.allow)
    forbid = Operation(about_rules.forbid)
    remove_rule = Operation(about_rules.remove_rule)

    approvals = Operation(about_approvals.approvals)
    approval = Operation(about_approvals.approval)
    answer = Operation(about_approvals.answer_approval)

    status = Operation(about_hub.status)
    health = Operation(about_hub.health)
    events = Operation(about_hub.events)
    prune = Operation(about_hub.prune)
