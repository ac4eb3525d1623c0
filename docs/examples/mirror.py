"""A receiver of webhooks that keeps a copy of a team's data in SQLite.

It needs Python 3.11 and the types of `hale webhooks types --language python > hale_events.py`.

HALE_URL, HALE_API_KEY   the service
HALE_WEBHOOK_ID          the endpoint that posts to this program, ep_...
PORT, COPY_PORT          addresses of the receiver, and of the copy on this machine
FEED_SECONDS             how often missing events are read from the feed
COPY_FILE                the database
"""

import base64
import hashlib
import hmac
import json
import os
import sqlite3
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hale_events import HaleEvent

URL, KEY, WEBHOOK = os.environ["HALE_URL"], os.environ["HALE_API_KEY"], os.environ["HALE_WEBHOOK_ID"]
PORT, COPY_PORT = int(os.environ.get("PORT", "9000")), int(os.environ.get("COPY_PORT", "9001"))
FEED_SECONDS = float(os.environ.get("FEED_SECONDS", "60"))
COPY_FILE = os.environ.get("COPY_FILE", "copy.db")

FIRST_DAY, LAST_DAY = "2000-01-01", "2100-01-01"
SUMMARIES = {"activity", "sleep", "sleep_cycle", "workouts", "body", "meal", "menstrual_cycle", "profile", "electrocardiogram"}
PATH_NAMES = {"weight": "body_weight", "fat": "body_fat"}  # other resources have one name in events and paths
ONE_TYPE = {"glucose", "sleep_breathing_disturbance", "stand_hour"}  # a later sample of another type replaces the earlier one
SOURCE_KEY = ["provider", "type", "app_id", "device_id", "sport", "workout_id"]
WORDS = ["sensor_location", "delivery_mode", "delivery_form", "bolus_purpose", "intensity"]

# A value has the number of the event or read that it is from. doc is null after a deletion.
# The view has what the API shows: a later deletion hides a sample, and of a sample with
# words and one without, the later one counts.
TABLES = """
CREATE TABLE IF NOT EXISTS value (
  kind TEXT, key TEXT, words TEXT, seq INTEGER, doc TEXT,
  user TEXT, resource TEXT, provider TEXT, at TEXT, PRIMARY KEY (kind, key, words));
CREATE INDEX IF NOT EXISTS value_user ON value (user);
CREATE TABLE IF NOT EXISTS deletion (user TEXT, resource TEXT, provider TEXT, first TEXT, last TEXT, seq INTEGER);
CREATE INDEX IF NOT EXISTS deletion_user ON deletion (user, resource);
CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY, at REAL);
CREATE TABLE IF NOT EXISTS to_read (
  id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT, resource TEXT, first TEXT, last TEXT, UNIQUE (user, resource, first, last));
CREATE TABLE IF NOT EXISTS position (start INTEGER, after INTEGER, after_id TEXT);
CREATE VIEW IF NOT EXISTS copy AS SELECT * FROM value v WHERE doc IS NOT NULL
  AND (kind IN ('order', 'order_transaction', 'appointment') OR NOT EXISTS (
    SELECT 1 FROM value u WHERE u.kind = 'user' AND u.key = v.user AND u.words = '' AND u.doc IS NULL))
  AND NOT EXISTS (
    SELECT 1 FROM value o WHERE v.kind = 'sample' AND o.kind = 'sample' AND o.key = v.key AND o.seq > v.seq AND '' IN (o.words, v.words))
  AND NOT EXISTS (
    SELECT 1 FROM deletion d WHERE v.kind = 'sample' AND d.user = v.user AND d.resource = v.resource
    AND d.provider = v.provider AND d.seq > v.seq AND v.at BETWEEN d.first AND d.last);
"""


class Restored(Exception):
    """The service was restored from a backup: numbers are used again."""


def get(path: str, **query: Any) -> tuple[int, Any]:
    """Reads from the API until there is an answer. Returns X-Hale-Event-Seq and the body, None after a 404."""
    text = urllib.parse.urlencode(query)
    request = urllib.request.Request(f"{URL}{path}?{text}", headers={"x-service-api-key": KEY})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return int(answer.headers.get("X-Hale-Event-Seq") or 0), json.load(answer)
        except urllib.error.HTTPError as refusal:
            if refusal.code == 404:
                return int(refusal.headers.get("X-Hale-Event-Seq") or 0), None
            if refusal.code == 422 and path == "/v2/events":
                raise Restored from refusal
            if refusal.code != 429 and refusal.code < 500:
                raise
        except (OSError, ValueError):
            pass  # the service is away, or the answer is not complete
        time.sleep(1)


class Copy:
    """The copy. Methods that change it are called within `with copy.change():`, which is one transaction."""

    def __init__(self, file: str) -> None:
        self.lock = threading.RLock()
        self.db = sqlite3.connect(file, check_same_thread=False)
        self.db.executescript("PRAGMA journal_mode = WAL;" + TABLES)

    @contextmanager
    def change(self) -> Iterator[None]:
        with self.lock, self.db:
            yield

    def rows(self, query: str, *values: Any) -> list[Any]:
        with self.lock:
            return self.db.execute(query, values).fetchall()

    def put(self, kind: str, key: str, seq: int, doc: Any, user: str, words: str = "", resource: str = "", provider: str = "", at: str = "") -> None:
        """Stores a value. A smaller number never replaces a greater one."""
        text = None if doc is None else json.dumps(doc)
        self.db.execute(
            "INSERT INTO value VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq,"
            " doc = excluded.doc, user = excluded.user, at = excluded.at WHERE excluded.seq >= value.seq",
            (kind, key, words, seq, text, user, resource, provider, at))

    def read_later(self, user: str, resource: str, first: str = FIRST_DAY, last: str = LAST_DAY) -> None:
        self.db.execute("INSERT OR REPLACE INTO to_read (user, resource, first, last) VALUES (?, ?, ?, ?)", (user, resource, first, last))

    def take(self, message: str, seq: int, event: HaleEvent | None) -> None:
        """Applies an event once, whether it comes by webhook or by feed, in any order."""
        if not self.rows("SELECT 1 FROM position WHERE start < ?", seq):
            return  # what exists at the start contains it
        new = self.db.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (message, time.time())).rowcount
        if new and event:  # the event of an erased user is null
            self.apply(seq, event)

    def apply(self, seq: int, event: HaleEvent) -> None:
        data: Any = event["data"]
        user = event["user_id"] or ""
        match event["event_type"].split("."):
            case ["user", "deleted"]:
                self.put("user", user, seq, None, user, at=data["erased_at"])
            case ["user", change]:
                self.put("user", user, seq, data, user)
                if change == "restored":
                    self.read_later(user, "")
            case ["provider", "connection", "created" | "updated" | "deleted" as change]:
                self.put("connection", f"{user} {data['provider']['slug']}", seq, None if change == "deleted" else data, user)
            case ["provider", "device", _]:
                self.put("device", data["id"], seq, data, user)
            case ["labtest", "order", _]:
                self.put_order(seq, data)
            case ["labtest", "appointment", _]:
                self.put("appointment", data["id"], seq, data, user)
            case ["historical", "data", resource, _]:
                self.read_later(user, resource)
            case ["daily", "data", resource, "deleted"]:
                self.delete(seq, user, resource, data)
            case ["daily", "data", "workout_stream", _]:
                pass  # data has the path of the stream: read it when you need it
            case ["daily", "data", resource, _] if resource in SUMMARIES:
                self.put("summary", f"{resource} {data['id']}", seq, data, user, resource=resource)
            case ["daily", "data", resource, _]:
                self.put_samples(seq, user, resource, data["source"], data["data"])

    def put_order(self, seq: int, order: Any) -> None:
        """Stores an order apart from its transaction, which events of other orders change too."""
        user, transaction = order["user_id"], order.pop("order_transaction")
        self.put("order", order["id"], seq, order, user)
        if transaction:
            self.put("order_transaction", transaction["id"], seq, transaction, user)

    def put_samples(self, seq: int, user: str, resource: str, source: Any, samples: list[Any]) -> None:
        for sample in samples:
            kind = None if resource in ONE_TYPE or resource == "hrv" else sample.get("type")
            key = json.dumps([user, resource, [source.get(name) for name in SOURCE_KEY], kind, sample["timestamp"]])
            names = ["type"] if resource == "hrv" else WORDS  # the type of hrv may come later, as words may
            words = " ".join(f"{name}={sample[name]}" for name in names if sample.get(name))
            self.put("sample", key, seq, {"source": source, "sample": sample}, user, words, resource, source["provider"], sample["timestamp"])

    def delete(self, seq: int, user: str, resource: str, data: Any) -> None:
        """Hides deleted data. Samples of other sources in the range are read again."""
        for id in data["ids"] or []:
            self.put("summary", f"{resource} {id}", seq, None, user, resource=resource)
        for provider in data["providers"]:
            self.db.execute("INSERT INTO deletion VALUES (?, ?, ?, ?, ?, ?)", (user, resource, provider, data["start_date"], data["end_date"], seq))
        self.read_later(user, resource, data["start_date"][:10], data["end_date"][:10])

    def clean(self) -> None:
        """Deletes the data of users whose time has come, and forgets old message ids."""
        now = datetime.now(timezone.utc).isoformat()
        self.db.execute(
            "DELETE FROM value WHERE kind <> 'user' AND user IN (SELECT key FROM value WHERE kind = 'user' AND doc IS NULL AND at < ?)", (now,))
        self.db.execute("DELETE FROM seen WHERE at < ?", (time.time() - 7 * 86400,))

    def clear(self) -> None:
        for table in ["value", "deletion", "seen", "to_read", "position"]:
            self.db.execute(f"DELETE FROM {table}")


copy = Copy(COPY_FILE)


def read_user(user: str) -> None:
    """Reads the connections and devices of a user, and notes the data to read."""
    connections, body = get(f"/v2/user/providers/{user}")
    devices, list_of_devices = get(f"/v2/user/{user}/device")
    _, resources = get("/v2/introspect/resources", user_id=user)
    with copy.change():
        for one in (body or {"providers": []})["providers"]:
            provider = {name: one.pop(name) for name in ["name", "slug", "logo"]}
            copy.put("connection", f"{user} {provider['slug']}", connections, {"user_id": user, "provider": provider, **one}, user)
        for device in list_of_devices or []:
            copy.put("device", device["id"], devices, device, user)
        for one in (resources or {"data": []})["data"]:
            for resource in {resource for by_resource in one["provider"].values() for resource in by_resource}:
                copy.read_later(user, resource)


def read_range(user: str, resource: str, first: str, last: str) -> None:
    """Reads the data of a user's resource in a range of days."""
    query = {"start_date": first, "end_date": last}
    if resource in SUMMARIES:
        seq, body = get(f"/v2/summary/{resource}/{user}", **query)
        summaries = [body] if resource == "profile" else [one for all in (body or {}).values() for one in all]
        with copy.change():
            for one in summaries:
                if one:
                    copy.put("summary", f"{resource} {one['id']}", seq, one, user, resource=resource)
    elif resource != "workout_stream":
        for seq, body in pages(f"/v2/timeseries/{user}/{PATH_NAMES.get(resource, resource)}/grouped", **query):
            with copy.change():
                for group in [group for groups in body["groups"].values() for group in groups]:
                    copy.put_samples(seq, user, resource, group["source"], group["data"])


def pages(path: str, **query: Any) -> Iterator[tuple[int, Any]]:
    """Reads a list page by page, while others write."""
    while True:
        seq, body = get(path, **query)
        if body is None:
            return
        yield seq, body
        if not body["next_cursor"]:
            return
        query["next_cursor"] = body["next_cursor"]


def read_all() -> None:
    """Reads what exists. The first answer has the smallest number: later events follow from the feed."""
    if not copy.rows("SELECT 1 FROM position"):  # a program that was stopped meanwhile keeps its start
        start, _ = get("/v2/user", limit=1)
        with copy.change():
            copy.db.execute("INSERT INTO position VALUES (?, NULL, '')", (start,))
    for seq, body in pages("/v2/user", limit=100):
        for user in body["users"]:
            del user["connected_sources"]  # they have events of their own
            with copy.change():
                copy.put("user", user["user_id"], seq, user, user["user_id"])
            read_user(user["user_id"])
    for seq, body in pages("/v3/orders", size=100):
        for order in body["orders"]:
            with copy.change():
                copy.put_order(seq, order)
            kind = {"at_home_phlebotomy": "phlebotomy", "walk_in_test": "psc"}.get(order["details"]["type"])
            if kind:
                read_visit(f"/v3/order/{order['id']}/{kind}/appointment")
    with copy.change():
        copy.db.execute("UPDATE position SET after = start")


def read_visit(path: str) -> None:
    seq, visit = get(path)
    if visit:
        with copy.change():
            copy.put("appointment", visit["id"], seq, visit, visit["user_id"])


def follow() -> None:
    """Reads the ranges that wait, and the events that webhooks lost, for ever."""
    while True:
        if not copy.rows("SELECT 1 FROM position WHERE after IS NOT NULL"):
            read_all()
        for id, user, resource, first, last in copy.rows("SELECT * FROM to_read"):
            if resource:
                read_range(user, resource, first, last)
            else:
                read_user(user)
            with copy.change():
                copy.db.execute("DELETE FROM to_read WHERE id = ?", (id,))  # a range that was noted again has another id
        after, after_id = copy.rows("SELECT after, after_id FROM position")[0]
        try:
            _, page = get("/v2/events", after=after, limit=1000, **({"after_id": after_id} if after_id else {}))
        except Restored:
            with copy.change():
                copy.clear()
            continue
        with copy.change():
            for e in page["events"]:
                copy.take(e["id"], e["seq"], e["event"])
            copy.db.execute("UPDATE position SET after = ?, after_id = ?", (page["next_after"], page["next_after_id"] or ""))
            copy.clean()
        if not page["has_more"] and not copy.rows("SELECT 1 FROM to_read"):
            time.sleep(FEED_SECONDS)


class Secret:
    """The secret of the endpoint. After a rotation the old and the new one sign, until the old one ends."""

    def __init__(self) -> None:
        self.lock, self.key, self.read_at = threading.Lock(), "", 0.0

    def signed(self, headers: Any, body: bytes) -> bool:
        if abs(time.time() - int(headers["webhook-timestamp"])) > 300:
            return False
        if not self.fits(headers, body):
            self.read_again()
        return self.fits(headers, body)

    def read_again(self) -> None:
        with self.lock:
            if time.time() - self.read_at > 5:  # strangers cannot make this program ask often
                _, answer = get(f"/v2/webhooks/{WEBHOOK}/secret")
                self.key, self.read_at = answer["key"], time.time()

    def fits(self, headers: Any, body: bytes) -> bool:
        text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = base64.b64decode(self.key.removeprefix("whsec_"))
        want = "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
        return self.key != "" and any(hmac.compare_digest(want.encode(), given.encode()) for given in headers["webhook-signature"].split(" "))


secret = Secret()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            if not secret.signed(self.headers, body):
                return self.answer(401)
        except (KeyError, TypeError, ValueError, AttributeError):
            return self.answer(400)  # a header is missing
        if self.headers["x-event-seq"]:  # examples have no number
            with copy.change():
                copy.take(self.headers["webhook-id"], int(self.headers["x-event-seq"]), json.loads(body))
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class Reader(BaseHTTPRequestHandler):
    """Answers with the copy, a JSON object in each line. It listens on this machine only."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        with copy.lock:
            position = copy.rows("SELECT after, (SELECT count(*) FROM to_read) FROM position WHERE after IS NOT NULL")
            after, to_read = position[0] if position else (-1, 0)
            self.line({"after": after, "to_read": to_read})
            for kind, user, resource, seq, doc in copy.rows("SELECT kind, user, resource, seq, doc FROM copy"):
                self.line({"kind": kind, "user": user, "resource": resource, "seq": seq, "doc": json.loads(doc)})

    def line(self, value: Any) -> None:
        self.wfile.write(json.dumps(value).encode() + b"\n")

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    for handler, host, port in [(Receiver, "0.0.0.0", PORT), (Reader, "127.0.0.1", COPY_PORT)]:
        threading.Thread(target=ThreadingHTTPServer((host, port), handler).serve_forever, daemon=True).start()
    follow()
