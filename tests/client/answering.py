"""An agent that answers what it is asked, in a thread of its own, as long as the context lasts."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from rookery import Client


@contextmanager
def answering(data: Path, token: str | None, answer: Callable[[str], str]) -> Generator[list[str]]:
    """`answer` makes the answer from the question. Gives the questions, one entry for each time it was put."""
    questions: list[str] = []
    with Client(data=data, token=token) as agent:
        listening = agent.listen()

        def serve() -> None:
            for event in listening:
                if event["type"] == "ask_opened" and event["target"] == agent.id:
                    question = agent.message(event["message_id"]).message
                    questions.append(question.content)
                    agent.reply(question, answer(question.content))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield questions
        listening.close()
        thread.join(10)
