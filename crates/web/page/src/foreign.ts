//! Text that somebody else wrote: a model, a program, the name of a file.
//!
//! Everything that is not plainly visible is spelled out as `\u{…}`, exactly as the terminal does
//! it, so that nothing can hide, reorder or overwrite what a person reads. Letters that look like
//! other letters pass. Nothing here makes elements; views draw the pieces.

/** A piece of safe text. Spelled pieces stand for a character that would not be seen. */
export interface Piece {
  text: string;
  spelled: boolean;
}

/** The character that begins rows of the program's own in a terminal; foreign text never has it. */
const MARK = 0x275a;
const EMOJI_STYLE = 0xfe0f;
const JOINER = 0x200d;

/** Drawn as nothing, or only by what they do to others. `core` has the same list. */
const INVISIBLE: readonly (readonly [number, number])[] = [
  [0xad, 0xad], [0x34f, 0x34f], [0x61c, 0x61c], [0x115f, 0x1160], [0x17b4, 0x17b5],
  [0x180b, 0x180f], [0x200b, 0x200f], [0x2028, 0x202e], [0x2060, 0x206f], [0x2800, 0x2800],
  [0x2d7f, 0x2d7f], [0x3164, 0x3164], [0xd800, 0xdfff], [0xfdd0, 0xfdef], [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffc], [0xfffe, 0xffff], [0x1107f, 0x1107f],
  [0x13430, 0x1345f], [0x16fe4, 0x16fe4], [0x1bc9d, 0x1bc9d], [0x1bca0, 0x1bca3],
  [0x1d159, 0x1d159], [0x1d173, 0x1d17a], [0x1fffe, 0x1ffff], [0x2fffe, 0x2ffff],
  [0x3fffe, 0x3ffff], [0x4fffe, 0x4ffff], [0x5fffe, 0x5ffff], [0x6fffe, 0x6ffff],
  [0x7fffe, 0x7ffff], [0x8fffe, 0x8ffff], [0x9fffe, 0x9ffff], [0xafffe, 0xaffff],
  [0xbfffe, 0xbffff], [0xcfffe, 0xcffff], [0xdfffe, 0xdffff], [0xe0000, 0xe0fff],
  [0xefffe, 0xeffff], [0xffffe, 0xfffff], [0x10fffe, 0x10ffff],
];

const ODD_BLANK: readonly (readonly [number, number])[] = [
  [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x202f, 0x202f], [0x205f, 0x205f],
  [0x3000, 0x3000],
];

const EMOJI: readonly (readonly [number, number])[] = [
  [0xa9, 0xa9], [0xae, 0xae], [0x203c, 0x203c], [0x2049, 0x2049], [0x2122, 0x2122],
  [0x2139, 0x2139], [0x2194, 0x21aa], [0x231a, 0x23ff], [0x24c2, 0x24c2], [0x25aa, 0x2759],
  [0x275b, 0x27bf], [0x2934, 0x2935], [0x2b05, 0x2b55], [0x3030, 0x3030], [0x303d, 0x303d],
  [0x3297, 0x3297], [0x3299, 0x3299], [0x1f000, 0x1faff],
];

function within(ranges: readonly (readonly [number, number])[], code: number): boolean {
  return ranges.some(([first, last]) => first <= code && code <= last);
}

function isControl(code: number): boolean {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/** Whether a character shows as itself, in its place, and does nothing else. */
export function isPlain(code: number): boolean {
  if (code >= 0x20 && code < 0x7f) return true;
  return !(isControl(code) || code === MARK || within(INVISIBLE, code) || within(ODD_BLANK, code));
}

/** Whether a character is drawn as an emoji if the emoji style follows it. */
export function canBeEmoji(code: number): boolean {
  return code > 0x7f && within(EMOJI, code);
}

/** The spelling of a character. */
export function spell(code: number): string {
  return `\\u{${code.toString(16)}}`;
}

const USUAL = /^[\x20-\x7e\n\t]*$/;

/** The text in pieces, with everything invisible spelled out. A return ends the line. */
export function pieces(text: string): Piece[] {
  if (USUAL.test(text)) return text === "" ? [] : [{ text, spelled: false }];
  const found: Piece[] = [];
  let plain = "";
  const flush = () => {
    if (plain !== "") found.push({ text: plain, spelled: false });
    plain = "";
  };
  const spelled = (code: number) => {
    flush();
    found.push({ text: spell(code), spelled: true });
  };
  /** Behind an emoji: 1 if it may still be changed, 2 if it was. */
  let emoji: 0 | 1 | 2 = 0;
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    const code = character.codePointAt(0) as number;
    const before: 0 | 1 | 2 = emoji;
    emoji = 0;
    if (character === "\r") {
      if (characters[at + 1] !== "\n") plain += "\n";
    } else if (character === "\n" || character === "\t") {
      plain += character;
    } else if (code === EMOJI_STYLE && before === 1) {
      plain += character;
      emoji = 2;
    } else if (code === JOINER && before !== 0) {
      const next = characters[at + 1]?.codePointAt(0);
      if (next !== undefined && canBeEmoji(next)) plain += character;
      else spelled(code);
    } else if (isPlain(code)) {
      const isTone: boolean = code >= 0x1f3fb && code <= 0x1f3ff && before === 1;
      emoji = isTone ? 2 : canBeEmoji(code) ? 1 : 0;
      plain += character;
    } else {
      spelled(code);
    }
  }
  flush();
  return found;
}

/** The text with everything invisible spelled out. */
export function spelledOut(text: string): string {
  if (USUAL.test(text)) return text;
  return pieces(text).map((piece) => piece.text).join("");
}

/** The text on one line, cut to `most` characters. */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const shown = Array.from(spelledOut(text).replace(/\n/g, "⏎").replace(/\t/g, " "));
  return shown.length <= most ? shown.join("") : `${shown.slice(0, Math.max(0, most - 1)).join("")}…`;
}
