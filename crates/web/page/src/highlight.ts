//! Code in tokens that have a colour: words of the language, texts, numbers and remarks.
//!
//! Small and forgiving, for reading only; judgement of code is the server's. The tokens of a text
//! always join to that text. Pure.

export interface Token {
  text: string;
  kind: "" | "word" | "text" | "number" | "remark" | "name";
}

interface Grammar {
  words: Set<string>;
  remark: RegExp;
  text: RegExp;
}

const split = (words: string): Set<string> => new Set(words.split(" "));

const HASH = /#[^\n]*/y;
const SLASHES = /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/y;
const DASHES = /--[^\n]*/y;
const QUOTED = /"(?:\\[^]|[^"\\\n])*(?:"|$)|'(?:\\[^]|[^'\\\n])*(?:'|$)/y;
const PYTHON_TEXT = /(?:[rbfu]{1,2})?(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\[^]|[^"\\\n])*(?:"|(?=\n)|$)|'(?:\\[^]|[^'\\\n])*(?:'|(?=\n)|$))/iy;
const SCRIPT_TEXT = /"(?:\\[^]|[^"\\\n])*(?:"|$)|'(?:\\[^]|[^'\\\n])*(?:'|$)|`(?:\\[^]|[^`\\])*(?:`|$)/y;
const SHELL_TEXT = /"(?:\\[^]|[^"\\])*(?:"|$)|'[^']*(?:'|$)/y;
const NUMBER = /0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?/iy;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/uy;

const GRAMMARS: { [name: string]: Grammar } = {
  python: {
    words: split("and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield True False None self"),
    remark: HASH, text: PYTHON_TEXT,
  },
  javascript: {
    words: split("async await break case catch class const continue default delete do else export extends finally for from function if import in instanceof let new of return static super switch this throw try typeof var void while yield true false null undefined interface type enum implements readonly"),
    remark: SLASHES, text: SCRIPT_TEXT,
  },
  shell: {
    words: split("if then else elif fi for in do done while until case esac function return local export set unset cd echo exit source trap shift test"),
    remark: /(?<=^|\s)#[^\n]*/y, text: SHELL_TEXT,
  },
  sql: {
    words: split("select from where insert into values update set delete create table index view drop alter join left right inner outer on group by order having limit offset union all distinct as and or not null is in like between case when then else end SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX VIEW DROP ALTER JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER HAVING LIMIT OFFSET UNION ALL DISTINCT AS AND OR NOT NULL IS IN LIKE BETWEEN CASE WHEN THEN ELSE END"),
    remark: DASHES, text: QUOTED,
  },
  rust: {
    words: split("as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true false type unsafe use where while"),
    remark: SLASHES, text: QUOTED,
  },
  r: { words: split("if else repeat while function for in next break TRUE FALSE NULL NA library"), remark: HASH, text: QUOTED },
  lua: { words: split("and break do else elseif end false for function goto if in local nil not or repeat return then true until while"), remark: DASHES, text: QUOTED },
  ruby: { words: split("begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true unless until when while yield require"), remark: HASH, text: QUOTED },
  json: { words: split("true false null"), remark: /(?!)/y, text: QUOTED },
};

const ALIASES: { [name: string]: string } = {
  py: "python", python3: "python", ipython: "python", js: "javascript", node: "javascript", jsx: "javascript",
  ts: "javascript", typescript: "javascript", tsx: "javascript", bash: "shell", sh: "shell", zsh: "shell",
  fish: "shell", dash: "shell", console: "shell", sqlite: "sql", postgresql: "sql", rs: "rust", rb: "ruby",
  perl: "ruby", toml: "r", yaml: "r", c: "rust", cpp: "rust", java: "javascript", go: "javascript",
};

/** The largest code that is coloured. */
const LARGEST = 200_000;

export function tokens(code: string, language: string): Token[] {
  const name = language.toLowerCase();
  const grammar = GRAMMARS[ALIASES[name] ?? name];
  if (grammar === undefined || code.length > LARGEST) return [{ text: code, kind: "" }];
  const found: Token[] = [];
  const push = (text: string, kind: Token["kind"]) => {
    const last = found[found.length - 1];
    if (last !== undefined && last.kind === kind) last.text += text;
    else found.push({ text, kind });
  };
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(code);
    return match === null || match[0] === "" ? null : match[0];
  };
  while (at < code.length) {
    let piece: string | null;
    if ((piece = take(grammar.remark)) !== null) push(piece, "remark");
    else if ((piece = take(grammar.text)) !== null) push(piece, "text");
    else if ((piece = take(NAME)) !== null) {
      const called = /^\s*\(/.test(code.slice(at + piece.length, at + piece.length + 3));
      push(piece, grammar.words.has(piece) ? "word" : called ? "name" : "");
    } else if ((piece = take(NUMBER)) !== null) push(piece, "number");
    else push((piece = String.fromCodePoint(code.codePointAt(at) as number)), "");
    at += piece.length;
  }
  return found;
}

/** The tokens line by line. */
export function tokenLines(code: string, language: string): Token[][] {
  const lines: Token[][] = [[]];
  for (const { text, kind } of tokens(code, language)) {
    text.split("\n").forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part !== "") (lines[lines.length - 1] as Token[]).push({ text: part, kind });
    });
  }
  return lines;
}
