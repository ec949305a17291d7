//! The state of the tab (the list, open questions, watched sessions), and the verbs.
//!
//! Everything shown comes from here as signals. Records go through the fold of `model.ts`; after a
//! cut each session is subscribed to again at the last record that it has. Nothing is drawn here.

import { batch, computed, signal } from "@preact/signals";
import { Connection, RequestFailed, type Standing, type Wire } from "./connection";
import { forgetKey, logout, protocols, storedKey } from "./login";
import { takeLive, takeRecord } from "./fold";
import { newSession, type Session } from "./model";
import type { Failure, InboxQuestion, Live, Person, Record, Row, Weights } from "./wire";
import { me, takeMe } from "./who";

/** Sessions whose picture is kept. */
const KEPT = 8;

export const standing = signal<Standing | "login" | "left">("connecting");
export const rows = signal<ReadonlyMap<string, Row>>(new Map());
export const history = signal<Row[]>([]);
export const inbox = signal<InboxQuestion[]>([]);
/** The id of whoever looks at this page, in a team. */
export const you = signal("");
export const search = signal("");
export const hasMore = signal(false);
export const current = signal<string | null>(null);
/** Grows when the current session's picture has changed. */
export const drawn = signal(0);
/** The embedded models, from the last line about a download. */
export const weights = signal<Weights[] | null>(null);
/** Words for a screen reader. */
export const announcement = signal("");
/** Failures of requests, shown until they are put away. */
export const failures = signal<{ id: number; failure: Failure }[]>([]);

const pictures = new Map<string, Session>();
/** Sessions that were subscribed to again for a hole, and where. */
const holes = new Map<string, number>();
let key = "";
let connection: Connection | null = null;
let nextFailure = 1;

export function currentKey(): string {
  return key;
}

/** The picture of the session that is looked at. */
export const picture = computed<{ session: Session; rev: number } | null>(() => {
  const rev = drawn.value;
  const id = current.value;
  const session = id === null ? undefined : pictures.get(id);
  return session === undefined ? null : { session, rev };
});

export const openCount = computed(() => inbox.value.length);

/** Begins with a key. */
export function begin(with_: string): void {
  key = with_;
  connection?.stop();
  const address = `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/v1/socket`;
  const connect = (): Wire => new WebSocket(address, protocols(key)) as unknown as Wire;
  connection = new Connection(connect, { standing: changed, messages });
  connection.start();
}

/** Logs out, here and at the server. */
export function leave(): void {
  const was = key;
  key = "";
  connection?.stop();
  standing.value = "left";
  // The browser may take its time to clear what it kept, and nobody waits for that.
  void logout(was);
}

/** Forgets everything that was shown: the next one in this tab may be somebody else. */
export function forget(): void {
  batch(() => {
    pictures.clear();
    holes.clear();
    current.value = null;
    [rows.value, history.value, inbox.value] = [new Map(), [], []];
    [search.value, weights.value, failures.value, me.value] = ["", null, [], null];
  });
}

/** Looks after the connection when the tab is seen again. */
export function wake(): void {
  connection?.wake();
}

let probing = false;

function changed(now: Standing): void {
  if (key === "") return;
  standing.value = now;
  if (now === "open") {
    void refresh();
    request("look", { at: "me" }).then((ok) => takeMe(ok["me"])).catch(() => undefined);
    quietly("subscribe", { list: true });
    const id = current.peek();
    if (id !== null) subscribe(id);
  } else if (now === "lost" && !probing) {
    void probe();
  }
}

/** Asks whether the login still holds: a refused handshake does not say why it was refused. */
async function probe(): Promise<void> {
  probing = true;
  try {
    const reply = await fetch("/v1/do", {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Key ${key}` },
      body: JSON.stringify({ id: 0, do: "list", limit: 1 }),
      signal: AbortSignal.timeout(5_000),
    });
    if (reply.status === 401) {
      connection?.stop();
      const stored = storedKey();
      // Another tab may have come in with a new link.
      if (stored !== null && stored !== key) return begin(stored);
      forgetKey();
      standing.value = "login";
    }
  } catch {
    // The server is not there; the connection goes on trying.
  } finally {
    probing = false;
  }
}

function messages(all: { [field: string]: unknown }[]): void {
  let isCurrentNew = false;
  let rowsNew: Map<string, Row> | null = null;
  for (const message of all) {
    if (message["row"] !== undefined) {
      rowsNew ??= new Map(rows.peek());
      const row = message["row"] as Row;
      // Only the list says whose it is.
      const { owner, shared } = rowsNew.get(row.session) ?? {};
      rowsNew.set(row.session, { ...(owner === undefined ? {} : { owner }), ...(shared === undefined ? {} : { shared }), ...row });
    } else if (Array.isArray(message["weights"])) {
      weights.value = message["weights"] as Weights[];
    } else if (typeof message["session"] === "string") {
      const picture = pictures.get(message["session"]);
      if (picture === undefined) continue;
      const isRecord = typeof message["kind"] === "string";
      let taken = isRecord ? takeRecord(picture, message as Record) : takeLive(picture, message as Live);
      if (taken === "gap") {
        if (holes.get(picture.id) !== picture.after) {
          holes.set(picture.id, picture.after);
          if (!isRecord) picture.live = null;
          subscribe(picture.id);
        } else if (isRecord) {
          // The server has nothing for the hole.
          picture.after = (message["seq"] as number) - 1;
          taken = takeRecord(picture, message as Record);
        }
      }
      if (taken === "new" && picture.id === current.peek()) isCurrentNew = true;
      if (isRecord && (message["kind"] === "question" || message["kind"] === "question_closed")) soonRefresh();
    }
  }
  if (rowsNew !== null) {
    const before = rows.peek();
    for (const [id, row] of rowsNew) {
      const old = before.get(id);
      if (old === undefined || old.questions !== row.questions || old.state !== row.state) soonRefresh();
    }
    rows.value = rowsNew;
  }
  if (isCurrentNew) soonDraw();
}

let drawing = false;

/** Draws once for everything that comes before the next frame. */
function soonDraw(): void {
  if (drawing) return;
  drawing = true;
  const draw = () => {
    drawing = false;
    drawn.value += 1;
  };
  if (document.hidden) setTimeout(draw, 50);
  else requestAnimationFrame(draw);
}

let refreshing: "no" | "yes" | "again" = "no";

/** Asks for the list again; several wishes at once become one. */
function soonRefresh(): void {
  if (refreshing === "no") void refresh();
  else refreshing = "again";
}

const PAGE = 50;

export async function refresh(): Promise<void> {
  refreshing = "yes";
  try {
    const fields: { [field: string]: unknown } = { limit: PAGE };
    const words = search.peek().trim();
    if (words !== "") fields["search"] = words;
    const ok = await request("list", fields);
    takeList(ok, false);
  } catch {
    // Without a connection the next one brings the list.
  }
  const again = (refreshing as string) === "again";
  refreshing = "no";
  if (again) void refresh();
}

function takeList(ok: { [field: string]: unknown }, isMore: boolean): void {
  const listed = (ok["sessions"] ?? []) as Row[];
  batch(() => {
    const known = new Map(rows.peek());
    for (const row of listed) known.set(row.session, row);
    rows.value = known;
    history.value = isMore ? [...history.peek(), ...listed.filter((row) => !history.peek().some((one) => one.session === row.session))] : listed;
    hasMore.value = listed.length >= PAGE;
    if (!isMore) inbox.value = (ok["questions"] ?? []) as InboxQuestion[];
    const self = ok["you"] as Person | undefined;
    if (typeof self?.id === "string") you.value = self.id;
  });
}

export async function more(): Promise<void> {
  const last = history.peek()[history.peek().length - 1];
  if (last === undefined) return;
  const fields: { [field: string]: unknown } = { limit: PAGE, before: last.session };
  const words = search.peek().trim();
  if (words !== "") fields["search"] = words;
  const ok = await attempt("list", fields);
  if (ok !== null) takeList(ok, true);
}

/** Looks at a session. */
export function look(id: string | null): void {
  const before = current.peek();
  if (before === id) return;
  if (before !== null) quietly("subscribe", { session: before, off: true });
  current.value = id;
  if (id === null) return;
  const known = pictures.get(id) ?? newSession(id);
  pictures.delete(id);
  pictures.set(id, known);
  for (const old of pictures.keys()) {
    if (pictures.size <= KEPT) break;
    pictures.delete(old);
  }
  drawn.value += 1;
  subscribe(id);
}

function subscribe(id: string): void {
  const picture = pictures.get(id);
  if (picture === undefined || standing.peek() !== "open") return;
  request("subscribe", { session: id, after: picture.after }).catch((problem: unknown) => {
    if (problem instanceof RequestFailed && problem.failure.code !== "lost") tell(problem.failure);
  });
}

/** Sends a request; fails with `RequestFailed`. */
export function request(verb: string, fields: { [field: string]: unknown } = {}): Promise<{ [field: string]: unknown }> {
  if (connection === null) return Promise.reject(new RequestFailed({ code: "lost", message: "There is no connection." }));
  return connection.request(verb, fields);
}

function quietly(verb: string, fields: { [field: string]: unknown }): void {
  request(verb, fields).catch(() => undefined);
}

/** Sends a request and shows its failure. */
export async function attempt(verb: string, fields: { [field: string]: unknown } = {}): Promise<{ [field: string]: unknown } | null> {
  try {
    return await request(verb, fields);
  } catch (problem) {
    tell(problem instanceof RequestFailed ? problem.failure : { code: "failed", message: String(problem) });
    return null;
  }
}

export function tell(failure: Failure): void {
  failures.value = [...failures.peek().slice(-4), { id: nextFailure, failure }];
  nextFailure += 1;
}

export function putAway(id: number): void {
  failures.value = failures.peek().filter((one) => one.id !== id);
}

/** Opens, resumes or forks, and looks at the session that comes of it. */
export async function enter(verb: "open" | "resume" | "fork", fields: { [field: string]: unknown }): Promise<boolean> {
  const ok = await attempt(verb, fields);
  if (ok === null || typeof ok["session"] !== "string") return false;
  location.hash = `#/s/${encodeURIComponent(ok["session"])}`;
  soonRefresh();
  return true;
}
