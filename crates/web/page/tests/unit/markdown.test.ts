import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, parts } from "../../src/markdown";
import { tokenLines, tokens } from "../../src/highlight";
import { pairs, rows } from "../../src/diff";

test("HTML stays text", () => {
  const text = JSON.stringify(parse("<script>alert(1)</script>\n\nx <img src=x onerror=alert(1)> y"));
  assert.ok(!/"type":"html"/.test(text));
  assert.ok(text.includes("<script>alert(1)</script>"));
});

test("links have a host or lead nowhere, pictures are names", () => {
  const all = JSON.stringify(parse("[a](https://evil.example/x) [b](javascript:alert(1)) [c](data:text/html,x) ![alt](http://track.example/p.png) [d][r]\n\n[r]: //other.example"));
  assert.ok(all.includes('"host":"evil.example"'));
  assert.ok(all.includes('"address":"javascript:alert(1)","host":""'));
  assert.ok(all.includes('"address":"data:text/html,x","host":""'));
  assert.ok(all.includes('{"type":"picture","alt":"alt","host":"track.example"}'));
  assert.ok(all.includes('"address":"//other.example","host":""'));
});

test("tables, lists and code", () => {
  const [table, list, code] = parse("| a | b |\n|---|--:|\n| 1 | 2 |\n\n3. x\n4. y\n\n```py\nx = 1\n```\n");
  assert.equal(table?.type, "table");
  assert.deepEqual(list?.type === "list" && [list.ordered, list.start, list.items.length], [true, 3, 2]);
  assert.deepEqual(code, { type: "code", language: "py", text: "x = 1" });
});

test("no level of heading is skipped", () => {
  const levels = parse("### a\n\n# b\n\n#### c\n\n> ###### d").map((one) => (one.type === "heading" ? one.depth : one.type === "quote" && one.children[0]?.type === "heading" ? one.children[0].depth : 0));
  assert.deepEqual(levels, [2, 2, 3, 4]);
});

test("deep nesting ends somewhere", () => {
  assert.ok(parse(`${"> ".repeat(500)}x`).length > 0);
  assert.ok(parse(`${"*".repeat(3000)}x`).length > 0);
});

test("all parts of a growing text but the last stay", () => {
  const text = "One.\n\nTwo\n```\na\n\nb\n```\n\nThree\n\n- a\n\n- b\n\nFour";
  assert.equal(parts(text).join("").replace(/\s/g, ""), text.replace(/\s/g, ""));
  let before: string[] = [];
  for (let end = 1; end <= text.length; end += 1) {
    const now = parts(text.slice(0, end));
    for (let at = 0; at < Math.min(before.length, now.length) - 1; at += 1) assert.equal(now[at], before[at]);
    before = now;
  }
});

test("tokens join to the code", () => {
  for (const language of ["python", "javascript", "shell", "sql", "rust", "json", "unknown"]) {
    for (const code of ["def f(x):\n  return \"a\\\"b\" # c\n", "'open", "x = '''\n a\n", "é🎉 = 0xff", "`a${b}`", "", "echo \"a\nb\""]) {
      assert.equal(tokens(code, language).map((token) => token.text).join(""), code);
      assert.equal(tokenLines(code, language).map((line) => line.map((token) => token.text).join("")).join("\n"), code);
    }
  }
  assert.deepEqual(tokens("import os # x", "python").map((token) => token.kind), ["word", "", "remark"]);
});

test("hunks are numbered, and stand side by side", () => {
  const all = rows(["@@ -3,3 +3,4 @@ def f", " a", "-b", "+c", "+d", " e"]);
  assert.deepEqual(all.map((row) => [row.kind, row.oldNumber, row.newNumber]), [
    ["about", undefined, undefined], ["same", 3, 3], ["old", 4, undefined], ["new", undefined, 4], ["new", undefined, 5], ["same", 5, 6],
  ]);
  assert.deepEqual(pairs(all).map((pair) => [pair.old?.text ?? null, pair.new?.text ?? null]), [["def f", "def f"], ["a", "a"], ["b", "c"], [null, "d"], ["e", "e"]]);
});
