import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection, RequestFailed, type Standing, type Wire } from "../../src/connection";

class Fake implements Wire {
  sent: string[] = [];
  closed = false;
  onopen: (() => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.closed = true;
  }
}

function scene(): { wires: Fake[]; connection: Connection; seen: unknown[]; states: Standing[] } {
  const wires: Fake[] = [];
  const seen: unknown[] = [];
  const states: Standing[] = [];
  const connection = new Connection(() => {
    const wire = new Fake();
    wires.push(wire);
    return wire;
  }, { standing: (now) => states.push(now), messages: (all) => seen.push(...all) });
  return { wires, connection, seen, states };
}

test("replies find their requests, and records come before them", async () => {
  const { wires, connection, seen } = scene();
  connection.start();
  const wire = wires[0] as Fake;
  wire.onopen?.();
  const one = connection.request("list");
  const other = connection.request("look", { at: "models" });
  assert.deepEqual(JSON.parse(wire.sent[0] as string), { id: 1, do: "list" });
  wire.onmessage?.({ data: '{"v":1,"seq":1,"session":"s","kind":"note"}\n{"id":2,"error":{"code":"failed","message":"no"}}\n{"v":1,"beat":3}\n{"id":1,"ok":{"a":1}}' });
  assert.deepEqual(await one, { a: 1 });
  await assert.rejects(other, (problem) => problem instanceof RequestFailed && problem.failure.code === "failed");
  assert.equal(seen.length, 1);
  connection.stop();
});

test("requests fail with the connection and are not sent twice", async () => {
  const { wires, connection, states } = scene();
  connection.start();
  (wires[0] as Fake).onopen?.();
  const lost = connection.request("prompt", { text: "x" });
  (wires[0] as Fake).onclose?.({ code: 1006 });
  await assert.rejects(lost, (problem) => problem instanceof RequestFailed && problem.failure.code === "lost");
  await assert.rejects(connection.request("list"));
  connection.wake();
  assert.equal(wires.length, 2);
  (wires[1] as Fake).onopen?.();
  assert.deepEqual((wires[1] as Fake).sent, []);
  assert.equal(states[states.length - 1], "open");
  connection.stop();
  connection.wake();
  assert.equal(wires.length, 2);
});

test("lines that are not JSON are passed over", () => {
  const { wires, connection, seen } = scene();
  connection.start();
  (wires[0] as Fake).onopen?.();
  (wires[0] as Fake).onmessage?.({ data: 'x\n\n{"v":1,"session":"s","live":"text"}' });
  assert.equal(seen.length, 1);
  connection.stop();
});
