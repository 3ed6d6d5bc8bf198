"""Each move of a delivery, and each that is refused."""

from dataclasses import replace

import pytest

from rookery.domain.deliveries import Delivery, Folder, Outcome
from rookery.domain.errors import AlreadyClaimed, AlreadyCompleted

NEW = Delivery(message_id="m1", recipient="fox", stored_at=1)
CLAIMED = NEW.claimed(5, "fox", "rest")
FINISHED: list[Outcome] = ["done", "dead"]


def test_a_stored_message_is_new_and_unread() -> None:
    assert (NEW.folder, NEW.rung, NEW.read) == ("new", "stored", False)


def test_a_hand_off_is_recorded_with_its_way_and_is_not_reading() -> None:
    handed = NEW.handed_off(2, "websocket")
    assert handed == replace(NEW, handed_off_at=2, handed_off_via="websocket")
    assert (handed.rung, handed.read, handed.folder) == ("handed_off", False, "new")


def test_only_the_first_hand_off_counts() -> None:
    handed = NEW.handed_off(2, "websocket")
    assert handed.handed_off(9, "pane") is handed


def test_being_seen_is_what_read_means() -> None:
    seen = NEW.seen(3, "rest")
    assert seen == replace(NEW, seen_at=3, seen_via="rest")
    assert (seen.rung, seen.read, seen.folder) == ("seen", True, "new")


def test_unread_is_what_is_new_and_was_not_seen() -> None:
    assert NEW.unread
    assert NEW.handed_off(2, "websocket").unread
    assert not NEW.seen(3, "rest").unread
    assert not CLAIMED.unread
    assert not CLAIMED.claim_expired().unread
    assert not NEW.completed(7, "fox", "dead").unread


def test_only_the_first_proof_of_reading_counts() -> None:
    seen = NEW.seen(3, "rest")
    assert seen.seen(9, "websocket") is seen


def test_a_claim_moves_to_cur_names_its_owner_and_proves_reading() -> None:
    assert replace(NEW, folder="cur", claimed_at=5, claimed_by="fox", seen_at=5, seen_via="rest") == CLAIMED
    assert CLAIMED.rung == "seen"


def test_a_claim_of_what_was_read_before_keeps_the_first_proof() -> None:
    claimed = NEW.seen(3, "websocket").claimed(5, "fox", "rest")
    assert (claimed.seen_at, claimed.seen_via, claimed.claimed_at) == (3, "websocket", 5)


def test_claiming_again_what_one_holds_changes_nothing() -> None:
    assert CLAIMED.claimed(9, "fox", "websocket") is CLAIMED


def test_somebody_elses_claim_is_in_the_way_of_a_claim() -> None:
    with pytest.raises(AlreadyClaimed) as refusal:
        CLAIMED.claimed(9, "operator", "rest")
    assert refusal.value.data == {"message_id": "m1", "claimed_by": "fox"}


@pytest.mark.parametrize("outcome", FINISHED)
def test_a_finished_delivery_cannot_be_claimed(outcome: Outcome) -> None:
    with pytest.raises(AlreadyCompleted) as refusal:
        CLAIMED.completed(6, "fox", outcome).claimed(9, "fox", "rest")
    assert refusal.value.data == {"message_id": "m1", "outcome": outcome}


def test_an_expired_claim_goes_back_to_new_and_is_counted() -> None:
    reopened = CLAIMED.claim_expired()
    assert reopened == replace(CLAIMED, folder="new", claimed_at=None, claimed_by=None, expiries=1)
    assert reopened.read
    assert reopened.claimed(9, "operator", "rest").claim_expired().expiries == 2


@pytest.mark.parametrize("outcome", FINISHED)
@pytest.mark.parametrize("start", [NEW, CLAIMED])
def test_new_and_claimed_deliveries_can_be_completed_either_way(start: Delivery, outcome: Outcome) -> None:
    finished = start.completed(7, "fox", outcome, result="r", error="e", note="n")
    assert finished == replace(
        start, folder=outcome, completed_at=7, completed_by="fox", result="r", error="e", note="n"
    )
    assert finished.rung == outcome


def test_completing_keeps_who_had_claimed_it() -> None:
    finished = CLAIMED.completed(7, "fox", "done")
    assert (finished.claimed_by, finished.claimed_at) == ("fox", 5)


def test_completing_without_reading_proves_no_reading() -> None:
    assert not NEW.completed(7, "fox", "done").read


def test_somebody_elses_claim_is_in_the_way_of_completing() -> None:
    with pytest.raises(AlreadyClaimed) as refusal:
        CLAIMED.completed(7, "operator", "done")
    assert refusal.value.data == {"message_id": "m1", "claimed_by": "fox"}


@pytest.mark.parametrize("first", FINISHED)
@pytest.mark.parametrize("second", FINISHED)
def test_a_finished_delivery_cannot_be_completed_again(first: Outcome, second: Outcome) -> None:
    with pytest.raises(AlreadyCompleted) as refusal:
        NEW.completed(7, "fox", first).completed(8, "fox", second)
    assert refusal.value.data == {"message_id": "m1", "outcome": first}


def test_a_reply_is_the_highest_rung_and_only_the_first_is_recorded() -> None:
    replied = NEW.replied(8, "m2")
    assert replied == replace(NEW, replied_at=8, reply_id="m2")
    assert replied.replied(9, "m3") is replied
    assert replied.rung == "replied"
    assert CLAIMED.completed(7, "fox", "done").replied(8, "m2").rung == "replied"


def test_a_reply_moves_no_folder_and_proves_no_reading() -> None:
    replied = NEW.replied(8, "m2")
    assert (replied.folder, replied.read) == ("new", False)


def test_clearing_is_recorded_once_and_leaves_the_rest_alone() -> None:
    cleared = CLAIMED.cleared(8)
    assert cleared == replace(CLAIMED, cleared_at=8)
    assert cleared.cleared(9) is cleared
    assert cleared.rung == "seen"


LADDER: list[tuple[Delivery, str, Folder]] = [
    (NEW, "stored", "new"),
    (NEW.handed_off(2, "ws"), "handed_off", "new"),
    (NEW.handed_off(2, "ws").seen(3, "ws"), "seen", "new"),
    (NEW.seen(3, "rest"), "seen", "new"),
    (NEW.seen(3, "rest").handed_off(4, "ws"), "seen", "new"),
    (CLAIMED, "seen", "cur"),
    (CLAIMED.claim_expired(), "seen", "new"),
    (CLAIMED.completed(6, "fox", "done"), "done", "done"),
    (CLAIMED.completed(6, "fox", "dead"), "dead", "dead"),
    (CLAIMED.completed(6, "fox", "done").handed_off(7, "ws"), "done", "done"),
    (CLAIMED.replied(6, "m2"), "replied", "cur"),
    (CLAIMED.replied(6, "m2").completed(7, "fox", "done"), "replied", "done"),
]


@pytest.mark.parametrize(("delivery", "rung", "folder"), LADDER)
def test_the_rung_is_the_highest_that_was_proved(delivery: Delivery, rung: str, folder: Folder) -> None:
    assert (delivery.rung, delivery.folder) == (rung, folder)
