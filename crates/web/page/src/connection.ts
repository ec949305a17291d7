//! The one WebSocket of a tab, which repairs itself.
//!
//! A connection counts as dead when a handshake takes too long or nothing is heard for two and a
//! half beats. It is tried again with growing pauses, and at once when the tab is seen, the network
//! comes back or the page is shown. Knows nothing of sessions: it hands on lines, and matches
//! replies to requests. A request is never sent twice: it fails when the connection does.

import type { Failure } from "./wire";

/** Seconds between two beats of the server. */
const BEAT = 15_000;
const PATIENCE = 2.5 * BEAT;
const HANDSHAKE = 5_000;
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2_000;

export type Standing = "connecting" | "open" | "lost" | "refused";

/** A request that failed, or was never answered. */
export class RequestFailed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

export interface Outlook {
  /** The state of the connection changed. */
  standing(now: Standing): void;
  /** These came, in order; replies to requests are not among them. */
  messages(all: { [field: string]: unknown }[]): void;
}

/** The parts of a WebSocket that are used. */
export interface Wire {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
}

interface Waiting {
  resolve(value: { [field: string]: unknown }): void;
  reject(problem: RequestFailed): void;
}

const LOST: Failure = { code: "lost", message: "The connection was lost before the answer came.", hint: "Look at the session: it shows whether this was done." };

export class Connection {
  private wire: Wire | null = null;
  private isOpen = false;
  private next = 1;
  private waiting = new Map<number, Waiting>();
  private pause = FIRST_PAUSE;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private heard = 0;
  private stopped = false;

  constructor(private readonly connect: () => Wire, private readonly outlook: Outlook) {}

  /** Connects now, unless it already is. */
  start(): void {
    this.stopped = false;
    if (this.wire !== null) return;
    clearTimeout(this.timer);
    this.outlook.standing(this.failures === 0 ? "connecting" : "lost");
    const wire = this.connect();
    this.wire = wire;
    this.silence = setTimeout(() => this.drop(wire), HANDSHAKE);
    wire.onopen = () => {
      if (this.wire !== wire) return;
      this.isOpen = true;
      this.pause = FIRST_PAUSE;
      this.failures = 0;
      this.listen(wire);
      this.outlook.standing("open");
    };
    wire.onmessage = (event) => {
      if (this.wire !== wire) return;
      this.listen(wire);
      this.take(String(event.data));
    };
    wire.onclose = () => this.drop(wire);
  }

  /** Looks whether the connection still lives: called when the tab is seen again. */
  wake(): void {
    if (this.stopped) return;
    // Timers stand still while the machine sleeps, so the clock is asked as well.
    if (this.wire !== null && this.isOpen && Date.now() - this.heard > PATIENCE) this.drop(this.wire);
    if (this.wire === null) {
      this.pause = FIRST_PAUSE;
      this.start();
    }
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    const wire = this.wire;
    if (wire !== null) this.drop(wire);
  }

  /** Sends a request. */
  request(verb: string, fields: { [field: string]: unknown } = {}): Promise<{ [field: string]: unknown }> {
    const wire = this.wire;
    if (wire === null || !this.isOpen) {
      return Promise.reject(new RequestFailed({ code: "lost", message: "There is no connection to the server right now." }));
    }
    const id = this.next;
    this.next += 1;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      wire.send(JSON.stringify({ id, do: verb, ...fields }));
    });
  }

  private listen(wire: Wire): void {
    this.heard = Date.now();
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.drop(wire), PATIENCE);
  }

  private drop(wire: Wire): void {
    if (this.wire !== wire) return;
    const wasOpen = this.isOpen;
    clearTimeout(this.silence);
    wire.onopen = wire.onclose = wire.onmessage = null;
    wire.close();
    this.wire = null;
    this.isOpen = false;
    this.failures = wasOpen ? 1 : this.failures + 1;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const one of waiting) one.reject(new RequestFailed(LOST));
    this.outlook.standing("lost");
    if (this.stopped) return;
    this.timer = setTimeout(() => this.start(), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }

  private take(data: string): void {
    const news: { [field: string]: unknown }[] = [];
    for (const line of data.split("\n")) {
      if (line === "") continue;
      let message: { [field: string]: unknown };
      try {
        message = JSON.parse(line) as { [field: string]: unknown };
      } catch {
        continue;
      }
      if (typeof message["beat"] === "number") continue;
      const waiting = typeof message["id"] === "number" && message["kind"] === undefined ? this.waiting.get(message["id"]) : undefined;
      if (waiting === undefined) {
        news.push(message);
        continue;
      }
      // Records that precede a reply are shown before it.
      if (news.length > 0) this.outlook.messages(news.splice(0));
      this.waiting.delete(message["id"] as number);
      const failure = message["error"] as Failure | undefined;
      if (failure !== undefined) waiting.reject(new RequestFailed(failure));
      else waiting.resolve((message["ok"] ?? {}) as { [field: string]: unknown });
    }
    if (news.length > 0) this.outlook.messages(news);
  }
}
