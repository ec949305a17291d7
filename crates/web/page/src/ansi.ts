//! The output of programs as lines of inked spans.
//!
//! Only colours, returns and erasing have a meaning, as in the terminal; every other sequence is
//! spelled out. Colours are reduced to six hues that can be read on both themes, so no program can
//! hide text. A drawer takes output piece by piece, and the pieces do not matter. Makes no elements.

import { canBeEmoji, isPlain, spell } from "./foreign";

/** A run of characters that are drawn alike; `ink` holds class names. */
export interface Span {
  text: string;
  ink: string;
}

const HUES = ["", "red", "green", "yellow", "blue", "magenta", "cyan", ""] as const;
const ATTRIBUTES: Readonly<Record<number, string>> = {
  1: "bold", 2: "dim", 3: "italic", 4: "underlined", 7: "reversed", 9: "struck",
};
const LONGEST = 64;
/** The widest line that is drawn; what comes later on it starts the next one. */
const WIDEST = 20_000;

type Wanted = "" | "grey" | Exclude<(typeof HUES)[number], "">;

/** The colour that sequences have led to. */
class Tint {
  private text: Wanted = "";
  private behind: Wanted = "";
  private attributes = new Set<string>();
  ink = "";

  take(parameters: string): void {
    const rest = parameters.split(";");
    while (rest.length > 0) {
      const one = rest.shift() as string;
      const parts = one.split(":");
      const code = number(parts[0] as string);
      if (code === 38 || code === 48) {
        let wanted: Wanted;
        if (parts.length > 1) {
          const fields = parts.slice(1).map(number);
          if (fields.length > 4) fields.splice(1, 1);
          wanted = extended(fields);
        } else {
          const fields = rest.map(number);
          wanted = extended(fields);
          rest.splice(0, fields[0] === 2 ? 4 : fields[0] === 5 ? 2 : 1);
        }
        if (code === 38) this.text = wanted;
        else this.behind = wanted;
      } else if (one === "4:0") {
        this.attributes.delete("underlined");
      } else {
        this.simple(code);
      }
    }
    this.ink = this.names();
  }

  private simple(code: number): void {
    if (code === 0) {
      this.text = this.behind = "";
      this.attributes.clear();
    } else if (code === 22) {
      this.attributes.delete("bold");
      this.attributes.delete("dim");
    } else if (code === 21) this.attributes.add("underlined");
    else if (code === 23) this.attributes.delete("italic");
    else if (code === 24) this.attributes.delete("underlined");
    else if (code === 27) this.attributes.delete("reversed");
    else if (code === 29) this.attributes.delete("struck");
    else if (code >= 30 && code <= 37) this.text = basic(code - 30);
    else if (code === 39) this.text = "";
    else if (code >= 40 && code <= 47) this.behind = basic(code - 40);
    else if (code === 49) this.behind = "";
    else if (code >= 90 && code <= 97) this.text = basic(code - 90 + 8);
    else if (code >= 100 && code <= 107) this.behind = basic(code - 100 + 8);
    else {
      const name = ATTRIBUTES[code];
      if (name !== undefined) this.attributes.add(name);
    }
  }

  private names(): string {
    const all = new Set(this.attributes);
    let hue: Wanted = this.text;
    if (this.behind !== "" && this.behind !== "grey") {
      hue = this.behind;
      if (!all.delete("reversed")) all.add("reversed");
    }
    if (hue === "grey") {
      all.add("dim");
      hue = "";
    }
    return [hue, ...[...all].sort()].filter((name) => name !== "").map((name) => `ink-${name}`).join(" ");
  }
}

function number(text: string): number {
  return text === "" ? 0 : Number.parseInt(text, 10);
}

function basic(code: number): Wanted {
  return code === 8 ? "grey" : HUES[code % 8] ?? "";
}

/** A colour by its number or by red, green and blue. */
function extended(fields: number[]): Wanted {
  if (fields[0] === 5) {
    const code = fields[1] ?? 0;
    if (code < 16) return basic(code);
    if (code >= 232) return code < 250 && code > 236 ? "grey" : "";
    const cube = code - 16;
    return nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51);
  }
  if (fields[0] === 2) return nearest(fields[1] ?? 0, fields[2] ?? 0, fields[3] ?? 0);
  return "";
}

/** The hue nearest to a colour; greys have none. */
function nearest(red: number, green: number, blue: number): Wanted {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most > 60 && most < 180 ? "grey" : "";
  const middle = (most + least) / 2;
  const name = `${red > middle ? 1 : 0}${green > middle ? 1 : 0}${blue > middle ? 1 : 0}`;
  const hues: Record<string, Wanted> = {
    "100": "red", "010": "green", "110": "yellow", "001": "blue", "101": "magenta", "011": "cyan",
  };
  return hues[name] ?? "";
}

/** One cell of the line that is being drawn. */
interface Cell {
  text: string;
  ink: string;
}

/** Draws output, piece by piece. */
export class Drawer {
  /** Lines that are complete. */
  readonly done: Span[][] = [];
  private cells: Cell[] = [];
  private column = 0;
  private tint = new Tint();
  private begun = "";
  private afterReturn = false;
  private emoji: 0 | 1 | 2 | 3 = 0;
  private half = "";
  private fed = 0;

  /** Takes what a growing text has gained since the last time. */
  follow(whole: string): void {
    if (whole.length > this.fed) this.feed(whole.slice(this.fed));
    this.fed = whole.length;
  }

  /** Takes the next piece. */
  feed(piece: string): void {
    let text = this.half + piece;
    this.half = "";
    const last = text.charCodeAt(text.length - 1);
    if (last >= 0xd800 && last < 0xdc00) {
      this.half = text.slice(-1);
      text = text.slice(0, -1);
    }
    for (const character of text) this.take(character, character.codePointAt(0) as number);
  }

  /** All lines so far, with the one that is being drawn. What is held back is not shown yet. */
  lines(): Span[][] {
    return this.cells.length === 0 ? this.done : [...this.done, joined(this.cells)];
  }

  /** How many lines there are. */
  get count(): number {
    return this.done.length + (this.cells.length === 0 ? 0 : 1);
  }

  /** Some of the lines. */
  slice(from: number, to: number): Span[][] {
    const some = this.done.slice(from, to);
    if (to > this.done.length && this.cells.length > 0) some.push(joined(this.cells));
    return some;
  }

  /** Ends the output: what was held back is neither a sequence nor an emoji. */
  finish(): void {
    this.spellBegun();
    if (this.emoji === 3) this.put(spell(0x200d), true);
    if (this.half !== "") this.put(spell(this.half.charCodeAt(0)), true);
    this.half = "";
    this.emoji = 0;
  }

  private take(character: string, code: number): void {
    if (this.begun !== "") {
      if (this.goesOn(character)) return;
      this.spellBegun();
    }
    if (this.afterReturn) {
      this.afterReturn = false;
      if (character === "\n") return this.newLine();
      this.column = 0;
    }
    if (this.emoji === 3) {
      if (canBeEmoji(code)) this.join("\u200d");
      else this.put(spell(0x200d), true);
    }
    const before = this.emoji;
    this.emoji = 0;
    if (character === "\r") this.afterReturn = true;
    else if (character === "\u001b") this.begun = character;
    else if (character === "\n") this.newLine();
    else if (character === "\t") {
      const blanks = 8 - (this.column % 8);
      for (let count = 0; count < blanks; count += 1) this.put(" ", false);
    } else if (code === 0xfe0f && before === 1) {
      this.emoji = 2;
      this.join(character);
    } else if (code === 0x200d && (before === 1 || before === 2)) this.emoji = 3;
    else if (isPlain(code)) {
      const isTone = code >= 0x1f3fb && code <= 0x1f3ff && before === 1;
      this.emoji = isTone ? 2 : canBeEmoji(code) ? 1 : 0;
      this.put(character, false);
    } else this.put(spell(code), true);
  }

  private goesOn(character: string): boolean {
    const length = this.begun.length;
    if ((length === 1 && character === "[") || (length >= 2 && length < LONGEST && /[0-9;:]/.test(character))) {
      this.begun += character;
      return true;
    }
    if (length >= 2 && character === "m") {
      this.tint.take(this.begun.slice(2));
      this.begun = "";
      return true;
    }
    if (length >= 2 && character === "K") {
      const which = this.begun.slice(2);
      this.begun = "";
      if (which === "1" || which === "2") {
        this.cells = [];
        this.column = 0;
      } else this.cells.length = Math.min(this.cells.length, this.column);
      return true;
    }
    return false;
  }

  private spellBegun(): void {
    const text = this.begun;
    this.begun = "";
    for (const character of text) {
      const code = character.codePointAt(0) as number;
      if (isPlain(code)) this.put(character, false);
      else this.put(spell(code), true);
    }
  }

  private put(text: string, spelled: boolean): void {
    if (this.column >= WIDEST) this.newLine();
    const ink = spelled ? `spelled ${this.tint.ink}`.trim() : this.tint.ink;
    this.cells[this.column] = { text, ink };
    this.column += 1;
  }

  /** Adds to the character before. */
  private join(text: string): void {
    const cell = this.cells[this.column - 1];
    if (cell !== undefined) this.cells[this.column - 1] = { text: cell.text + text, ink: cell.ink };
  }

  private newLine(): void {
    this.done.push(joined(this.cells));
    this.cells = [];
    this.column = 0;
  }
}

function joined(cells: Cell[]): Span[] {
  const spans: Span[] = [];
  for (const { text, ink } of cells) {
    const last = spans[spans.length - 1];
    if (last !== undefined && last.ink === ink) last.text += text;
    else spans.push({ text, ink });
  }
  return spans;
}
