//! LaTeX formulas as a tree of MathML. Pure.
//!
//! The common part of the language: whatever is not known here gives nothing, and the source is shown
//! as it is. Elements have fixed names and no attribute that comes from the source.

export interface MathNode {
  tag: "mrow" | "mi" | "mn" | "mo" | "mtext" | "mspace" | "mfrac" | "msqrt" | "mroot" | "msup" | "msub" | "msubsup" | "mover" | "munder" | "munderover" | "mtable" | "mtr" | "mtd";
  text?: string;
  children?: MathNode[];
  attributes?: { [name: string]: string };
}

/** Characters of a formula, and how deep it may be. */
const MOST = 20_000;
const DEEPEST = 60;

const letters = (text: string): { [name: string]: string } => Object.fromEntries(text.split(" ").map((pair) => pair.split(":") as [string, string]));

const NAMES = letters("alpha:α beta:β gamma:γ delta:δ epsilon:ϵ varepsilon:ε zeta:ζ eta:η theta:θ vartheta:ϑ iota:ι kappa:κ lambda:λ mu:μ nu:ν xi:ξ pi:π rho:ρ sigma:σ tau:τ upsilon:υ phi:ϕ varphi:φ chi:χ psi:ψ omega:ω Gamma:Γ Delta:Δ Theta:Θ Lambda:Λ Xi:Ξ Pi:Π Sigma:Σ Upsilon:Υ Phi:Φ Psi:Ψ Omega:Ω infty:∞ partial:∂ nabla:∇ hbar:ℏ ell:ℓ emptyset:∅ Re:ℜ Im:ℑ aleph:ℵ imath:ı jmath:ȷ prime:′");
const SIGNS = letters("cdot:⋅ times:× div:÷ pm:± mp:∓ ast:∗ circ:∘ bullet:∙ leq:≤ le:≤ geq:≥ ge:≥ neq:≠ ne:≠ approx:≈ equiv:≡ sim:∼ simeq:≃ cong:≅ propto:∝ ll:≪ gg:≫ in:∈ notin:∉ ni:∋ subset:⊂ subseteq:⊆ supset:⊃ supseteq:⊇ cup:∪ cap:∩ setminus:∖ wedge:∧ land:∧ vee:∨ lor:∨ neg:¬ lnot:¬ forall:∀ exists:∃ to:→ rightarrow:→ leftarrow:← leftrightarrow:↔ Rightarrow:⇒ Leftarrow:⇐ Leftrightarrow:⇔ iff:⇔ implies:⇒ mapsto:↦ uparrow:↑ downarrow:↓ perp:⊥ parallel:∥ mid:∣ oplus:⊕ otimes:⊗ odot:⊙ dots:… ldots:… cdots:⋯ vdots:⋮ ddots:⋱ langle:⟨ rangle:⟩ lfloor:⌊ rfloor:⌋ lceil:⌈ rceil:⌉ lvert:| rvert:| vert:| Vert:‖ lVert:‖ rVert:‖ colon:: backslash:\\ degree:°");
const LARGE = letters("sum:∑ prod:∏ coprod:∐ int:∫ iint:∬ iiint:∭ oint:∮ bigcup:⋃ bigcap:⋂ bigoplus:⨁ bigotimes:⨂");
const FUNCTIONS = "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp lim limsup liminf max min sup inf det dim ker gcd arg deg Pr hom".split(" ");
const BELOW = ["sum", "prod", "coprod", "bigcup", "bigcap", "bigoplus", "bigotimes", "lim", "limsup", "liminf", "max", "min", "sup", "inf", "det", "gcd", "Pr"];
const ACCENTS = letters("hat:^ widehat:^ bar:¯ overline:¯ tilde:~ widetilde:~ vec:→ dot:˙ ddot:¨ check:ˇ");
const SPACES: { [name: string]: string } = { ",": "0.17em", ":": "0.22em", ">": "0.22em", ";": "0.28em", "!": "0em", " ": "0.25em", quad: "1em", qquad: "2em" };
const FONTS: { [name: string]: string } = { mathrm: "normal", operatorname: "normal", mathbf: "bold", boldsymbol: "bold", mathit: "italic", mathbb: "double", mathcal: "script" };
const FENCES: { [name: string]: [string, string] } = { matrix: ["", ""], pmatrix: ["(", ")"], bmatrix: ["[", "]"], Bmatrix: ["{", "}"], vmatrix: ["|", "|"], Vmatrix: ["‖", "‖"], cases: ["{", ""], aligned: ["", ""], align: ["", ""], "align*": ["", ""], array: ["", ""], smallmatrix: ["", ""] };

class Unknown extends Error {}

/** The formula, or nothing if it says something that is not known here. */
export function formula(source: string): MathNode | null {
  const bare = source.trim().replace(/^\$\$?|\$\$?$|^\\[[(]|\\[\])]$/g, "").replace(/^\\displaystyle\b/, "").replace(/^\\begin\{(equation\*?)\}([\s\S]*)\\end\{\1\}$/, "$2");
  if (bare.length > MOST) return null;
  try {
    const reader = new Reader(bare.match(/\\[a-zA-Z]+\*?|\\[^a-zA-Z]|\s+|[^\\]/gu) ?? []);
    const all = reader.row(() => reader.isAtEnd(), 0);
    return { tag: "mrow", children: all };
  } catch (problem) {
    if (problem instanceof Unknown) return null;
    throw problem;
  }
}

const leaf = (tag: MathNode["tag"], text: string): MathNode => ({ tag, text });
const mrow = (children: MathNode[]): MathNode => (children.length === 1 ? children[0] as MathNode : { tag: "mrow", children });
const fence = (text: string): MathNode => ({ tag: "mo", text, attributes: { stretchy: "true", fence: "true" } });

class Reader {
  private at = 0;

  constructor(private readonly tokens: readonly string[]) {}

  isAtEnd(): boolean {
    return this.at >= this.tokens.length;
  }

  private skip(): void {
    while (/^\s+$/.test(this.tokens[this.at] ?? "")) this.at += 1;
  }

  private take(): string {
    const token = this.tokens[this.at];
    if (token === undefined) throw new Unknown();
    this.at += 1;
    return token;
  }

  private is(token: string): boolean {
    this.skip();
    if (this.tokens[this.at] !== token) return false;
    this.at += 1;
    return true;
  }

  /** Everything up to an end, with its scripts. */
  row(isEnd: () => boolean, depth: number): MathNode[] {
    if (depth > DEEPEST) throw new Unknown();
    const found: MathNode[] = [];
    for (;;) {
      this.skip();
      if (isEnd()) return found;
      if (this.isAtEnd()) throw new Unknown();
      found.push(this.scripted(depth));
    }
  }

  private scripted(depth: number): MathNode {
    const name = (this.tokens[this.at] ?? "").slice(1);
    const isBelow = BELOW.includes(name) && (this.tokens[this.at] ?? "").startsWith("\\");
    const base = this.tokens[this.at] === "^" || this.tokens[this.at] === "_" ? mrow([]) : this.atom(depth);
    let [below, above]: [MathNode | null, MathNode | null] = [null, null];
    for (;;) {
      if (this.is("^")) {
        if (above !== null) throw new Unknown();
        above = this.argument(depth);
      } else if (this.is("_")) {
        if (below !== null) throw new Unknown();
        below = this.argument(depth);
      } else if (this.is("'")) above = mrow([...(above === null ? [] : [above]), leaf("mo", "′")]);
      else break;
    }
    if (below !== null && above !== null) return { tag: isBelow ? "munderover" : "msubsup", children: [base, below, above] };
    if (below !== null) return { tag: isBelow ? "munder" : "msub", children: [base, below] };
    return above === null ? base : { tag: isBelow ? "mover" : "msup", children: [base, above] };
  }

  /** What a command or a script applies to: a group, or one thing. */
  private argument(depth: number): MathNode {
    this.skip();
    if (this.isAtEnd()) throw new Unknown();
    return this.atom(depth + 1);
  }

  /** The text of a group, as it stands there. */
  private raw(): string {
    if (!this.is("{")) throw new Unknown();
    let text = "";
    for (let deep = 1; ;) {
      const token = this.take();
      if (token === "{") deep += 1;
      if (token === "}") deep -= 1;
      if (deep === 0) return text;
      text += token;
    }
  }

  private atom(depth: number): MathNode {
    if (depth > DEEPEST) throw new Unknown();
    const token = this.take();
    if (token === "{") return mrow(this.row(() => this.is("}"), depth + 1));
    if (token.startsWith("\\")) return this.command(token.slice(1), depth);
    if (/[0-9.]/.test(token)) {
      let text = token;
      while (/^[0-9.]$/.test(this.tokens[this.at] ?? "")) text += this.take();
      return leaf("mn", text);
    }
    if (/\p{L}/u.test(token)) return leaf("mi", token);
    if (token === "~") return { tag: "mspace", attributes: { width: "0.25em" } };
    if (/[}&#%$^_]/.test(token)) throw new Unknown();
    return leaf("mo", token === "-" ? "−" : token === "*" ? "∗" : token);
  }

  private command(name: string, depth: number): MathNode {
    const has = (all: { [name: string]: string }) => Object.hasOwn(all, name);
    if (has(NAMES)) return leaf("mi", NAMES[name] as string);
    if (has(SIGNS)) return leaf("mo", SIGNS[name] as string);
    if (has(LARGE)) return { tag: "mo", text: LARGE[name] as string, attributes: { largeop: "true", movablelimits: "false" } };
    if (FUNCTIONS.includes(name)) return { tag: "mi", text: name };
    if (has(SPACES)) return { tag: "mspace", attributes: { width: SPACES[name] as string } };
    if (has(ACCENTS)) return { tag: "mover", attributes: { accent: "true" }, children: [this.argument(depth), leaf("mo", ACCENTS[name] as string)] };
    if (has(FONTS)) return this.font(FONTS[name] as string, name, depth);
    if ("{}%$&#_|".includes(name)) return leaf("mo", name === "|" ? "‖" : name);
    switch (name) {
      case "frac": case "dfrac": case "tfrac": return { tag: "mfrac", children: [this.argument(depth), this.argument(depth)] };
      case "binom": return mrow([fence("("), { tag: "mfrac", attributes: { linethickness: "0" }, children: [this.argument(depth), this.argument(depth)] }, fence(")")]);
      case "sqrt": {
        const root = this.is("[") ? mrow(this.row(() => this.is("]"), depth + 1)) : null;
        const inner = this.argument(depth);
        return root === null ? { tag: "msqrt", children: [inner] } : { tag: "mroot", children: [inner, root] };
      }
      case "text": case "textrm": case "mbox": return leaf("mtext", this.raw());
      case "left": {
        const open = this.delimiter();
        const inner = this.row(() => this.is("\\right"), depth + 1);
        return { tag: "mrow", children: [...open, ...inner, ...this.delimiter()] };
      }
      case "big": case "Big": case "bigl": case "bigr": case "Bigl": case "Bigr": return mrow(this.delimiter());
      case "displaystyle": case "textstyle": case "limits": case "nolimits": return mrow([]);
      case "begin": return this.table(this.raw(), depth);
      default: throw new Unknown();
    }
  }

  private delimiter(): MathNode[] {
    this.skip();
    const token = this.take();
    if (token === ".") return [];
    if (/^[()[\]|/<>]$/.test(token)) return [fence(token === "<" ? "⟨" : token === ">" ? "⟩" : token)];
    const name = token.slice(1);
    if (token.startsWith("\\") && "{}|".includes(name)) return [fence(name === "|" ? "‖" : name)];
    if (token.startsWith("\\") && Object.hasOwn(SIGNS, name)) return [fence(SIGNS[name] as string)];
    throw new Unknown();
  }

  /** Letters of another kind, by their own characters. */
  private font(kind: string, name: string, depth: number): MathNode {
    if (kind === "normal") return { tag: "mi", text: this.raw().replace(/\\[,; ]/g, " "), attributes: { mathvariant: "normal" } };
    const text = name === "boldsymbol" ? null : this.raw();
    if (text === null) return this.argument(depth);
    if (!/^[A-Za-z0-9 ]*$/.test(text)) throw new Unknown();
    const special: { [letter: string]: string } = kind === "double" ? letters("C:ℂ H:ℍ N:ℕ P:ℙ Q:ℚ R:ℝ Z:ℤ") : kind === "script" ? letters("B:ℬ E:ℰ F:ℱ H:ℋ I:ℐ L:ℒ M:ℳ R:ℛ") : {};
    const starts: { [kind: string]: [number, number, number] } = { bold: [0x1d400, 0x1d41a, 0x1d7ce], italic: [0x1d434, 0x1d44e, 0x30], double: [0x1d538, 0x1d552, 0x1d7d8], script: [0x1d49c, 0x1d4b6, 0x30] };
    const [upper, lower, digit] = starts[kind] ?? [0x41, 0x61, 0x30];
    const turned = (letter: string) => {
      const code = letter.charCodeAt(0);
      const from = /[A-Z]/.test(letter) ? upper + code - 0x41 : /[a-z]/.test(letter) ? lower + code - 0x61 : /\d/.test(letter) ? digit + code - 0x30 : code;
      return special[letter] ?? String.fromCodePoint(from);
    };
    return mrow(Array.from(text).map((letter) => leaf(/\d/.test(letter) ? "mn" : "mi", turned(letter))));
  }

  private table(name: string, depth: number): MathNode {
    const fences = Object.hasOwn(FENCES, name) ? FENCES[name] : undefined;
    if (fences === undefined) throw new Unknown();
    if (name === "array") this.raw();
    const rows: MathNode[][] = [[]];
    for (;;) {
      let end = "";
      const cell = this.row(() => {
        end = this.is("&") ? "&" : this.is("\\\\") ? "\\\\" : this.is("\\end") ? "\\end" : "";
        return end !== "";
      }, depth + 1);
      (rows[rows.length - 1] as MathNode[]).push({ tag: "mtd", children: cell });
      if (end === "\\\\") rows.push([]);
      if (end === "\\end") break;
    }
    if (this.raw() !== name) throw new Unknown();
    const kept = rows.filter((cells) => cells.some((cell) => cell.children?.length !== 0));
    const isAligned = name.startsWith("align");
    const table: MathNode = { tag: "mtable", ...(isAligned || name === "cases" ? { attributes: { columnalign: isAligned ? "right left" : "left" } } : {}), children: kept.map((children) => ({ tag: "mtr", children })) };
    const [open, close] = fences;
    return { tag: "mrow", children: [...(open === "" ? [] : [fence(open)]), table, ...(close === "" ? [] : [fence(close)])] };
  }
}
