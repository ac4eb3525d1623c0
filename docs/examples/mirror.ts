// A receiver of webhooks that keeps a copy of a team's data in memory. Replace the class
// Copy with your database; mirror.py has the same in SQLite.
//
// It needs Node 20 and the types of `hale webhooks types > hale-events.ts`.
//
//	HALE_URL, HALE_API_KEY   the service
//	HALE_WEBHOOK_ID          the endpoint that posts to this program, ep_...
//	PORT, COPY_PORT          addresses of the receiver, and of the copy on this machine
//	FEED_SECONDS             how often missing events are read from the feed
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { HaleEvent } from "./hale-events.js";

const url = process.env.HALE_URL ?? "http://127.0.0.1:8080";
const apiKey = process.env.HALE_API_KEY ?? "";
const webhook = process.env.HALE_WEBHOOK_ID ?? "";
const feedSeconds = Number(process.env.FEED_SECONDS ?? 60);

const firstDay = "2000-01-01";
const lastDay = "2100-01-01";
const summaries = new Set(["activity", "sleep", "sleep_cycle", "workouts", "body", "meal", "menstrual_cycle", "profile", "electrocardiogram"]);
const pathNames: Record<string, string> = { weight: "body_weight", fat: "body_fat" }; // other resources have one name in events and paths
const sourceKey = ["provider", "type", "app_id", "device_id", "sport", "workout_id"];
const oneType = ["glucose", "sleep_breathing_disturbance", "stand_hour"]; // a later sample of another type replaces the earlier one
const wordNames = ["sensor_location", "delivery_mode", "delivery_form", "bolus_purpose", "intensity"];

type Doc = Record<string, any>;

// Value has the number of the event or read that it is from. doc is null after a deletion.
interface Value {
  kind: string;
  key: string;
  user: string;
  seq: number;
  doc: Doc | null;
  resource?: string;
  words?: string; // of a sample
  provider?: string; // of a sample
  at?: string; // time of a sample, or of the erasure of a user
}

interface Deletion {
  user: string;
  resource: string;
  provider: string;
  first: string;
  last: string;
  seq: number;
}

// Range is a range of days of a resource to read. Without a resource, it is the whole user.
interface Range {
  user: string;
  resource: string;
  first: string;
  last: string;
}

class Copy {
  // By kind and key, and by the words of samples.
  values = new Map<string, Map<string, Value>>();
  deletions: Deletion[] = [];
  seen = new Map<string, number>();
  toRead: Range[] = [];
  start = Infinity; // what was read at the start contains the events up to this one
  after = -1; // position in the feed
  afterId = "";

  // put stores a value. A smaller number never replaces a greater one.
  put(value: Value): void {
    const id = `${value.kind} ${value.key}`;
    const byWords = this.values.get(id) ?? new Map<string, Value>();
    this.values.set(id, byWords);
    const before = byWords.get(value.words ?? "");
    if (!before || value.seq >= before.seq) byWords.set(value.words ?? "", value);
  }

  // take applies an event once, whether it comes by webhook or by feed, in any order.
  take(message: string, seq: number, event: HaleEvent | null): void {
    if (seq <= this.start || this.seen.has(message)) return;
    this.seen.set(message, Date.now());
    if (!event) return; // of an erased user
    const user = event.user_id ?? "";
    const data: Doc = event.data;
    const [family, part, resource, change] = event.event_type.split(".") as [string, string, string, string?];
    if (event.event_type === "user.deleted") {
      this.put({ kind: "user", key: user, user, seq, doc: null, at: event.data.erased_at ?? undefined });
    } else if (family === "user") {
      this.put({ kind: "user", key: user, user, seq, doc: data });
      if (part === "restored") this.readLater(user, "");
    } else if (family === "provider" && part === "device") {
      this.put({ kind: "device", key: data.id, user, seq, doc: data });
    } else if (family === "provider" && resource !== "error") {
      this.put({ kind: "connection", key: `${user} ${data.provider.slug}`, user, seq, doc: resource === "deleted" ? null : data });
    } else if (family === "labtest" && part === "order") {
      this.putOrder(seq, data);
    } else if (family === "labtest" && part === "appointment") {
      this.put({ kind: "appointment", key: data.id, user, seq, doc: data });
    } else if (family === "historical") {
      this.readLater(user, resource);
    } else if (family !== "daily" || resource === "workout_stream") {
      return; // the event of a stream has its path: read it when you need it
    } else if (change === "deleted") {
      this.delete(seq, user, resource, data);
    } else if (summaries.has(resource)) {
      this.put({ kind: "summary", key: `${user} ${resource} ${data.id}`, user, seq, doc: data, resource });
    } else {
      this.putSamples(seq, user, resource, data.source, data.data);
    }
  }

  // putOrder stores an order apart from its transaction, which events of other orders change too.
  putOrder(seq: number, data: Doc): void {
    const { order_transaction: transaction, ...order } = data;
    this.put({ kind: "order", key: data.id, user: data.user_id, seq, doc: order });
    if (transaction) this.put({ kind: "order_transaction", key: transaction.id, user: data.user_id, seq, doc: transaction });
  }

  putSamples(seq: number, user: string, resource: string, source: Doc, samples: Doc[]): void {
    for (const sample of samples) {
      const kind = resource === "hrv" || oneType.includes(resource) ? null : sample.type ?? null;
      const key = JSON.stringify([user, resource, sourceKey.map((name) => source[name] ?? null), kind, sample.timestamp]);
      const names = resource === "hrv" ? ["type"] : wordNames; // the type of hrv may come later, as words may
      const words = names.filter((name) => sample[name]).map((name) => `${name}=${sample[name]}`).join(" ");
      this.put({ kind: "sample", key, words, user, resource, seq, doc: { source, sample }, provider: source.provider, at: sample.timestamp });
    }
  }

  // delete hides deleted data. Samples of other sources in the range are read again.
  delete(seq: number, user: string, resource: string, data: Doc): void {
    for (const id of data.ids ?? []) this.put({ kind: "summary", key: `${user} ${resource} ${id}`, user, seq, doc: null, resource });
    for (const provider of data.providers) {
      this.deletions.push({ user, resource, provider, first: data.start_date, last: data.end_date, seq });
    }
    this.readLater(user, resource, data.start_date.slice(0, 10), data.end_date.slice(0, 10));
  }

  readLater(user: string, resource: string, first = firstDay, last = lastDay): void {
    this.toRead.push({ user, resource, first, last });
  }

  // visible returns what the API shows.
  *visible(): Generator<Value & { doc: Doc }> {
    for (const byWords of this.values.values()) {
      for (const value of byWords.values()) {
        if (value.doc && !this.hidden(value, byWords)) yield { ...value, doc: value.doc };
      }
    }
  }

  // hidden reports whether a later deletion hides a sample, or a later sample of the same key:
  // of one with words and one without, the later one counts. The data of deleted users is
  // hidden, but orders continue until the erasure.
  hidden(value: Value, byWords: Map<string, Value>): boolean {
    if (value.kind === "sample") {
      for (const [words, other] of byWords) {
        if (other.seq > value.seq && (words === "" || value.words === "")) return true;
      }
      if (this.deleted(value)) return true;
    }
    const user = this.values.get(`user ${value.user}`)?.get("");
    return user?.doc === null && !["order", "order_transaction", "appointment"].includes(value.kind);
  }

  deleted(value: Value): boolean {
    const at = value.at ?? "";
    return this.deletions.some(
      (d) => d.user === value.user && d.resource === value.resource && d.provider === value.provider && d.seq > value.seq && d.first <= at && at <= d.last,
    );
  }

  // clean deletes the data of users whose time has come, and forgets old message ids.
  clean(): void {
    const now = new Date().toISOString();
    for (const [id, byWords] of this.values) {
      const [value] = byWords.values();
      const user = this.values.get(`user ${value?.user}`)?.get("");
      if (value?.kind !== "user" && user?.doc === null && (user.at ?? now) < now) this.values.delete(id);
    }
    for (const [message, at] of this.seen) if (at < Date.now() - 7 * 86400_000) this.seen.delete(message);
  }
}

let copy = new Copy();

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

class Refused extends Error {
  status: number;
  constructor(status: number, text: string) {
    super(`${status} ${text}`);
    this.status = status;
  }
}

// get reads from the API until there is an answer. seq is X-Hale-Event-Seq; a 404 has no body.
async function get(path: string, query: Record<string, string> = {}): Promise<{ seq: number; body: any }> {
  for (; ; await pause(1)) {
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}${path}?${new URLSearchParams(query)}`, { headers: { "x-service-api-key": apiKey } });
      text = await response.text();
    } catch {
      continue; // the service is away
    }
    const seq = Number(response.headers.get("x-hale-event-seq") ?? 0);
    if (response.ok) return { seq, body: JSON.parse(text) };
    if (response.status === 404) return { seq, body: null };
    if (response.status !== 429 && response.status < 500) throw new Refused(response.status, text);
  }
}

// pages reads a list page by page, while others write.
async function* pages(path: string, query: Record<string, string>) {
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await get(path, cursor ? { ...query, next_cursor: cursor } : query);
    if (page.body === null) return;
    yield page;
    cursor = page.body.next_cursor;
  }
}

// readUser reads the connections and devices of a user, and notes the data to read.
async function readUser(user: string): Promise<void> {
  const connections = await get(`/v2/user/providers/${user}`);
  for (const { name, slug, logo, ...one } of connections.body?.providers ?? []) {
    const doc = { user_id: user, provider: { name, slug, logo }, ...one };
    copy.put({ kind: "connection", key: `${user} ${slug}`, user, seq: connections.seq, doc });
  }
  const devices = await get(`/v2/user/${user}/device`);
  for (const doc of devices.body ?? []) copy.put({ kind: "device", key: doc.id, user, seq: devices.seq, doc });
  const { body } = await get("/v2/introspect/resources", { user_id: user });
  const resources = new Set<string>();
  for (const one of body?.data ?? []) for (const byResource of Object.values<Doc>(one.provider)) Object.keys(byResource).forEach((name) => resources.add(name));
  for (const resource of resources) copy.readLater(user, resource);
}

// readRange reads the data of a user's resource in a range of days.
async function readRange({ user, resource, first, last }: Range): Promise<void> {
  const query = { start_date: first, end_date: last };
  if (resource === "workout_stream") return;
  if (summaries.has(resource)) {
    const { seq, body } = await get(`/v2/summary/${resource}/${user}`, query);
    const all: Doc[] = resource === "profile" ? [body] : Object.values<Doc[]>(body ?? {}).flat();
    for (const doc of all) if (doc) copy.put({ kind: "summary", key: `${user} ${resource} ${doc.id}`, user, seq, doc, resource });
    return;
  }
  for await (const { seq, body } of pages(`/v2/timeseries/${user}/${pathNames[resource] ?? resource}/grouped`, query)) {
    for (const group of Object.values<Doc[]>(body.groups).flat()) copy.putSamples(seq, user, resource, group.source, group.data);
  }
}

// readAll reads what exists. The first answer has the smallest number: later events follow from the feed.
async function readAll(): Promise<void> {
  copy.start = (await get("/v2/user", { limit: "1" })).seq;
  for await (const { seq, body } of pages("/v2/user", { limit: "100" })) {
    for (const { connected_sources, ...doc } of body.users) { // connections have events of their own
      copy.put({ kind: "user", key: doc.user_id, user: doc.user_id, seq, doc });
      await readUser(doc.user_id);
    }
  }
  for await (const { seq, body } of pages("/v3/orders", { size: "100" })) {
    for (const order of body.orders) {
      copy.putOrder(seq, order);
      const kind = ({ at_home_phlebotomy: "phlebotomy", walk_in_test: "psc" } as Record<string, string>)[order.details.type];
      if (!kind) continue;
      const visit = await get(`/v3/order/${order.id}/${kind}/appointment`);
      if (visit.body) copy.put({ kind: "appointment", key: visit.body.id, user: order.user_id, seq: visit.seq, doc: visit.body });
    }
  }
  copy.after = copy.start;
}

// follow reads the ranges that wait, and the events that webhooks lost, for ever.
async function follow(): Promise<void> {
  for (;;) {
    if (copy.after < 0) await readAll();
    for (let range = copy.toRead[0]; range; range = copy.toRead[0]) {
      await (range.resource ? readRange(range) : readUser(range.user));
      copy.toRead.shift();
    }
    const query: Record<string, string> = { after: String(copy.after), limit: "1000" };
    if (copy.afterId) query.after_id = copy.afterId;
    let page;
    try {
      page = (await get("/v2/events", query)).body;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 422) throw error;
      copy = new Copy(); // the service was restored from a backup: numbers are used again
      continue;
    }
    for (const e of page.events) copy.take(e.id, e.seq, e.event);
    copy.after = page.next_after;
    copy.afterId = page.next_after_id ?? "";
    copy.clean();
    if (!page.has_more && copy.toRead.length === 0) await pause(feedSeconds);
  }
}

// After a rotation the old and the new secret sign, until the old one ends.
let secret = "";
let secretReadAt = 0;

function fits(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`).update(body).digest();
  const all = String(headers["webhook-signature"]).split(" ");
  return secret !== "" && all.some((given) => {
    const bytes = Buffer.from(given.replace(/^v1,/, ""), "base64");
    return bytes.length === signature.length && timingSafeEqual(bytes, signature);
  });
}

async function signed(headers: IncomingHttpHeaders, body: Buffer): Promise<boolean> {
  if (!(Math.abs(Date.now() / 1000 - Number(headers["webhook-timestamp"])) <= 300)) return false;
  if (fits(headers, body)) return true;
  if (Date.now() - secretReadAt > 5000) { // strangers cannot make this program ask often
    secretReadAt = Date.now();
    secret = (await get(`/v2/webhooks/${webhook}/secret`)).body.key;
  }
  return fits(headers, body);
}

// receive returns the status of the answer. The event is stored before the answer.
async function receive(request: IncomingMessage): Promise<number> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  if (!(await signed(request.headers, body))) return 401;
  const seq = request.headers["x-event-seq"]; // examples have none
  if (seq) copy.take(String(request.headers["webhook-id"]), Number(seq), JSON.parse(body.toString()) as HaleEvent);
  return 204;
}

createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(), // Hale sends it again
  );
}).listen(Number(process.env.PORT ?? 9000));

// The copy, a JSON object in each line, for programs on this machine only.
createServer((_, response) => {
  response.write(JSON.stringify({ after: copy.after, to_read: copy.toRead.length }) + "\n");
  for (const { kind, user, resource, seq, doc } of copy.visible()) response.write(JSON.stringify({ kind, user, resource, seq, doc }) + "\n");
  response.end();
}).listen(Number(process.env.COPY_PORT ?? 9001), "127.0.0.1");

await follow();
