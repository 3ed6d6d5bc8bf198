"""What agents read of one another's calls, to the letter. Nobody's words can pass for such a header."""

from typing import Literal

from rookery.domain.framing import quoted
from rookery.domain.messages import Priority

Action = Literal["ask", "delegate", "notify"]

WAITING_FOR_APPROVAL = "This action requires approval. Waiting for approval..."
PAUSED = (
    "This exchange between agents has gone on for long without the operator, who was asked whether to continue. "
    "What you said is kept and goes out if so: do not repeat it."
)
STOPPED = "The operator stopped this exchange between agents; what you said last was not sent."


def ask_request(caller: str, message: str, context: str | None) -> str:
    return _request(f"[Agent Request from {caller} | Pattern: ask]", message, context)


def delegate_request(caller: str, message: str, context: str | None, priority: Priority, task: str) -> str:
    header = f"[Agent Request from {caller} | Pattern: delegate | Priority: {priority} | Task: {task}]"
    return _request(header, message, context)


def notification(caller: str, message: str, context: str | None) -> str:
    return _request(f"[Agent Notification from {caller}]", message, context)


def delegation_result(assignee: str, task: str, result: str) -> str:
    return f"[Delegation Result from {assignee} | {task}]\n{quoted(result)}"


def delegation_failed(assignee: str, task: str, error: str) -> str:
    header = f"[Delegation Failed | {assignee} | {task}]"
    return f"{header}\nError: {assignee} failed to complete the task: {quoted(error)}"


# -- what the caller is told --------------------------------------------------------------------------


def response(target: str, answer: str) -> str:
    return f"Response from {target}: {quoted(answer)}"


def delegated(target: str, task: str) -> str:
    return (
        f"Delegated to {target} (subtask {task}). You'll receive the result automatically when {target} finishes."
    )


def notified(target: str) -> str:
    return f"Notification sent to {target}."


def denied(target: str) -> str:
    return f"Approval denied for contacting {target}."


def _request(header: str, message: str, context: str | None) -> str:
    said = [header]
    if context and context.strip():
        said.append(f"Context: {quoted(context.strip())}")
    said.append(quoted(message))
    return "\n\n".join(said)
