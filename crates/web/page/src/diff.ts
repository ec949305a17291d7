//! Hunks of a unified diff as rows, one side or two. Pure.

export interface DiffRow {
  kind: "same" | "old" | "new" | "about";
  text: string;
  oldNumber?: number;
  newNumber?: number;
}

/** The rows of a hunk, numbered by its header. */
export function rows(lines: string[]): DiffRow[] {
  let oldNumber = 1;
  let newNumber = 1;
  const found: DiffRow[] = [];
  for (const line of lines) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (header !== null) {
      oldNumber = Number(header[1]);
      newNumber = Number(header[2]);
      if ((header[3] ?? "").trim() !== "") found.push({ kind: "about", text: (header[3] as string).trim() });
    } else if (line.startsWith("+")) {
      found.push({ kind: "new", text: line.slice(1), newNumber });
      newNumber += 1;
    } else if (line.startsWith("-")) {
      found.push({ kind: "old", text: line.slice(1), oldNumber });
      oldNumber += 1;
    } else if (line.startsWith("\\")) {
      found.push({ kind: "about", text: line.slice(1).trim() });
    } else {
      found.push({ kind: "same", text: line.slice(1), oldNumber, newNumber });
      oldNumber += 1;
      newNumber += 1;
    }
  }
  return found;
}

export interface Pair {
  old: DiffRow | null;
  new: DiffRow | null;
}

/** The same in two columns: what went and what came stand beside each other. */
export function pairs(all: DiffRow[]): Pair[] {
  const found: Pair[] = [];
  let at = 0;
  while (at < all.length) {
    const row = all[at] as DiffRow;
    if (row.kind === "same" || row.kind === "about") {
      found.push({ old: row, new: row });
      at += 1;
      continue;
    }
    const gone: DiffRow[] = [];
    const come: DiffRow[] = [];
    while (at < all.length && (all[at]?.kind === "old" || all[at]?.kind === "new")) {
      const one = all[at] as DiffRow;
      (one.kind === "old" ? gone : come).push(one);
      at += 1;
    }
    for (let index = 0; index < Math.max(gone.length, come.length); index += 1) {
      found.push({ old: gone[index] ?? null, new: come[index] ?? null });
    }
  }
  return found;
}
