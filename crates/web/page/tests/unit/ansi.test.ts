import assert from "node:assert/strict";
import { test } from "node:test";
import { Drawer } from "../../src/ansi";

function drawn(...pieces: string[]): string {
  const drawer = new Drawer();
  for (const piece of pieces) drawer.feed(piece);
  drawer.finish();
  return drawer.lines().map((spans) => spans.map(({ text, ink }) => (ink === "" ? text : `<${ink}>${text}</>`)).join("")).join("\n");
}

test("colours become classes", () => {
  assert.equal(drawn("a\u001b[1;31mb\u001b[mc"), "a<ink-red ink-bold>b</>c");
  assert.equal(drawn("\u001b[38;5;196mx\u001b[38;2;0;200;0my\u001b[0m"), "<ink-red>x</><ink-green>y</>");
  assert.equal(drawn("\u001b[41mx"), "<ink-red ink-reversed>x</>");
  assert.equal(drawn("\u001b[30;40mx\u001b[8my"), "xy");
  assert.equal(drawn("\u001b[90mx"), "<ink-dim>x</>");
});

test("a return writes over the line, and erasing erases", () => {
  assert.equal(drawn("10%\r20%\r100%\n"), "100%");
  assert.equal(drawn("abc\rx\u001b[K\n"), "x");
  assert.equal(drawn("a\r\nb"), "a\nb");
  assert.equal(drawn("abc\u001b[2Kd"), "d");
});

test("every other sequence is spelled out", () => {
  for (const sequence of ["[2J", "[H", "[6n", "[?25l", "]0;title\u0007", "]8;;http://x\u001b\\", "]52;c;eA==\u0007", "c", "(0", "[<1m", "[1;31"]) {
    assert.ok(drawn(`a\u001b${sequence}b`).startsWith("a<spelled>\\u{1b}</>"), sequence);
  }
  assert.ok(drawn(`\u001b[${"1;".repeat(40)}m`).startsWith("<spelled>\\u{1b}</>[1;1;"));
});

test("pieces do not matter", () => {
  const text = "a\u001b[31mred\u001b[0m 👩\u200d👩\ufe0f x\r\ny\u001b[Kz\u202e\u{1f600}\rq\u001b]0;t\u0007end\tt\n";
  const whole = drawn(text);
  for (let cut = 0; cut <= text.length; cut += 1) assert.equal(drawn(text.slice(0, cut), text.slice(cut)), whole, String(cut));
  assert.equal(drawn(...text.split("")), whole);
});

test("a growing text is followed", () => {
  const drawer = new Drawer();
  drawer.follow("a\nb");
  drawer.follow("a\nbc\n");
  assert.deepEqual(drawer.lines().map((spans) => spans[0]?.text), ["a", "bc"]);
  assert.equal(drawer.count, 2);
});
