"""What comes of contact: questions that somebody waits on, work that is handed over, rules, the operator's word.

The parties are strangers: what the services do when an agent goes is for the tests of the services.
"""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from rookery.domain.asks import Ask
from rookery.domain.events import ApprovalAnswered, AskOpened, TaskStarted
from rookery.domain.ids import OPERATOR
from rookery.domain.permissions import Permission, Rule
from rookery.domain.tasks import Task, TaskOutcome, task_id
from rookery.ports import Transaction
from rookery.testing.stores.channel_traffic import ChannelTraffic
from rookery.testing.stores.rules import removed
from rookery.testing.stores.samples import (
    BY_FOX,
    a_task,
    an_approval,
    ask_ended,
    handed_over,
    requested,
    ruled,
    task_ended,
)
from rookery.testing.stores.world import picks

STRANGERS = ("grey-goose", "old-badger", OPERATOR)
outcomes: st.SearchStrategy[TaskOutcome] = st.sampled_from(["completed", "failed", "cancelled"])
permissions: st.SearchStrategy[Permission] = st.sampled_from(["allow", "deny"])


class ContactTraffic(ChannelTraffic):
    # -- asks ------------------------------------------------------------------------------------------

    @precondition(lambda self: self.model.messages)
    @rule(which=picks, by=picks, to=picks)
    def somebody_waits_for_an_answer(self, which: int, by: int, to: int) -> None:
        question = self.message(which).id
        if question in self.model.asks:
            return
        asker, target = self.stranger(by), self.stranger(to)
        now = self.now()
        ask = Ask(message_id=question, asker=asker, target=target, depth=1, asked_at=now, deadline=now + which)

        def work(tx: Transaction) -> None:
            tx.asks.put(ask)
            tx.journal.record(AskOpened(ask=ask), at=now, by=BY_FOX, audience=())

        self.run(self.hub.store.write(work))
        self.model.asks[question] = ask

    @precondition(lambda self: self.model.asks)
    @rule(which=picks)
    def an_ask_ends(self, which: int) -> None:
        ask = list(self.model.asks.values())[which % len(self.model.asks)]
        ended = ask.failed(self.now(), f"no {which}") if which % 2 else ask.timed_out(self.now())
        self.run(self.hub.store.write(lambda tx: ask_ended(tx, ended)))
        self.model.asks[ask.message_id] = ended

    # -- tasks -----------------------------------------------------------------------------------------

    @rule(by=picks, to=picks)
    def work_is_handed_over(self, by: int, to: int) -> None:
        number = len(self.model.tasks) + 1
        parent = task_id(number - 1 - to % 3) if number > 3 else None
        expected = a_task(number, requester=self.stranger(by), assignee=self.stranger(to), parent=parent)

        def work(tx: Transaction) -> Task | None:
            assert tx.tasks.next_number() == number
            handed_over(tx, expected)
            return tx.tasks.get(expected.id)

        assert self.run(self.hub.store.write(work)) == expected
        self.model.tasks[expected.id] = expected

    @precondition(lambda self: self.model.tasks)
    @rule(which=picks, outcome=outcomes)
    def a_task_goes_on(self, which: int, outcome: TaskOutcome) -> None:
        task = list(self.model.tasks.values())[which % len(self.model.tasks)]
        if task.status == "pending":
            changed = task.started(self.now())
        elif task.open:
            changed = task.ended(self.now(), task.assignee, outcome, result=f"result {which}")
        else:
            return

        def work(tx: Transaction) -> None:
            if changed.open:
                tx.tasks.put(changed)
                tx.journal.record(TaskStarted(task=changed), at=self.now(), by=BY_FOX, audience=())
            else:
                task_ended(tx, changed)

        self.run(self.hub.store.write(work))
        self.model.tasks[task.id] = changed

    # -- rules and approvals ---------------------------------------------------------------------------

    @rule(whose=picks, towards=picks, permission=permissions)
    def a_rule_is_set(self, whose: int, towards: int, permission: Permission) -> None:
        new = Rule(agent=self.stranger(whose), target=self.stranger(towards), permission=permission)
        self.run(self.hub.store.write(lambda tx: ruled(tx, new)))
        self.model.rules[new.agent, new.target] = new

    @precondition(lambda self: self.model.rules)
    @rule(which=picks)
    def a_rule_is_removed(self, which: int) -> None:
        gone = list(self.model.rules.values())[which % len(self.model.rules)]
        self.run(self.hub.store.write(lambda tx: removed(tx, gone)))
        del self.model.rules[gone.agent, gone.target]

    @rule(whose=picks)
    def the_operator_is_asked(self, whose: int) -> None:
        name = f"approval-{len(self.model.approvals)}"
        approval = an_approval(
            name, agent=self.stranger(whose), key=f"key-{whose % 3}", expires_at=self.now() + whose
        )
        self.run(self.hub.store.write(lambda tx: requested(tx, approval)))
        self.model.approvals[name] = approval

    @precondition(lambda self: any(each.pending for each in self.model.approvals.values()))
    @rule(which=picks)
    def the_operator_answers(self, which: int) -> None:
        pending = [each for each in self.model.approvals.values() if each.pending]
        answered = pending[which % len(pending)].answered(
            self.now(), OPERATOR, "approved" if which % 2 else "denied"
        )

        def work(tx: Transaction) -> None:
            tx.approvals.put(answered)
            tx.journal.record(ApprovalAnswered(approval=answered), at=self.now(), by=BY_FOX, audience=())

        self.run(self.hub.store.write(work))
        self.model.approvals[answered.id] = answered

    def stranger(self, pick: int) -> str:
        return STRANGERS[pick % len(STRANGERS)]
