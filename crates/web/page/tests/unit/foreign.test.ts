import assert from "node:assert/strict";
import { test } from "node:test";
import { isPlain, oneLine, pieces, spelledOut } from "../../src/foreign";

test("escapes are spelled out", () => {
  assert.equal(spelledOut("\u001b]0;title\u0007red\u001b[31m\u009b2J\u202ex"), "\\u{1b}]0;title\\u{7}red\\u{1b}[31m\\u{9b}2J\\u{202e}x");
});

test("invisible characters and odd blanks are spelled out", () => {
  const all = "\u034f\u17b4\u180b\ufe00\ufe0f\u{13430}\u{1bca0}\u{1d173}\u{1d159}\u{16fe4}\u2d7f\ufdd0\ufffc\u{1fffe}\u{e0100}\u00a0\u1680\u2007\u202f\u205f\u3000\u2800\u0085\u007f";
  for (const character of all) {
    assert.equal(spelledOut(`a${character}b`), `a\\u{${character.codePointAt(0)?.toString(16)}}b`);
  }
});

test("an emoji may be drawn as one, and nothing else is joined", () => {
  for (const same of ["⚠\ufe0f!", "👩\u200d👩\u200d👧", "🧑\u{1f3fd}\u200d💻 ❤\ufe0f\u200d🔥"]) assert.equal(spelledOut(same), same);
  assert.equal(spelledOut("⚠\ufe0f\ufe0f"), "⚠\ufe0f\\u{fe0f}");
  assert.equal(spelledOut("a\ufe0f"), "a\\u{fe0f}");
  assert.equal(spelledOut("a\u200db"), "a\\u{200d}b");
  assert.equal(spelledOut("👩\u200db"), "👩\\u{200d}b");
  assert.equal(spelledOut("👩\u200d\u200d👩"), "👩\\u{200d}\\u{200d}👩");
});

test("a return ends the line, and a cut line has an ellipsis", () => {
  assert.equal(spelledOut("safe\rrm -rf\r\nx\r"), "safe\nrm -rf\nx\n");
  assert.equal(oneLine("a\nbcdef", 4), "a⏎b…");
});

test("half a character is spelled out", () => {
  assert.equal(spelledOut("a\ud800b"), "a\\u{d800}b");
});

test("nothing invisible gets through, whatever the text", () => {
  let seed = 7;
  const random = (most: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % most;
  };
  const tricky = [0x1b, 0x200d, 0xfe0f, 0x202e, 0x1f469, 0x1f3fd, 0xd800, 0xdc00, 0x0d, 0x0a, 0x41, 0xad, 0xe0041, 0x275a];
  for (let round = 0; round < 2000; round += 1) {
    const codes = Array.from({ length: 8 }, () => (random(3) === 0 ? random(0x11000) : tricky[random(tricky.length)] as number));
    const shown = pieces(String.fromCodePoint(...codes)).map((piece) => piece.text).join("");
    for (const character of shown) {
      assert.ok("\n\t\ufe0f\u200d".includes(character) || isPlain(character.codePointAt(0) as number), JSON.stringify(codes));
    }
    assert.ok(!shown.includes("❚"));
  }
});
