//! The lines of a change, one below the other or side by side.

import type { JSX } from "preact";
import { pairs, rows } from "../diff";
import { Foreign } from "./text";

/** A change that is taken whole or not at all: its lines, or what is known of it. */
export function Whole({ head, sides }: { head: string; sides: boolean }): JSX.Element | null {
  const lines = head.replace(/\n$/, "").split("\n");
  const at = lines.findIndex((line) => line.startsWith("@@ "));
  if (at >= 0) return <div class="hunk"><Hunk lines={lines.slice(at)} sides={sides} /></div>;
  const about = lines.filter((line) => line !== "" && !/^(?:diff --git|index|---|\+\+\+|(?:new|deleted) file mode) /.test(line));
  return about.length === 0 ? null : <p class="muted file-about"><Foreign text={about.join("\n")} /></p>;
}

const SIGNS = { same: " ", old: "−", new: "+", about: "" } as const;
const SAID = { same: "", old: "removed: ", new: "added: ", about: "" } as const;

export function Hunk({ lines, sides }: { lines: string[]; sides: boolean }): JSX.Element {
  const all = rows(lines);
  if (sides) {
    return (
      <div class="diff two" role="group" tabIndex={0} aria-label="Lines, side by side">
        {pairs(all).map((pair, at) => (
          <div key={at} class="pair">
            <div class={`diff-row ${pair.old?.kind ?? "none"}`}><span class="diff-number" aria-hidden="true">{pair.old?.oldNumber ?? ""}</span><code>{pair.old?.kind === "old" && <span class="sr">{SAID.old}</span>}<Foreign text={pair.old?.text ?? ""} /></code></div>
            <div class={`diff-row ${pair.new?.kind ?? "none"}`}><span class="diff-number" aria-hidden="true">{pair.new?.newNumber ?? ""}</span><code>{pair.new?.kind === "new" && <span class="sr">{SAID.new}</span>}<Foreign text={pair.new?.kind === "about" ? "" : pair.new?.text ?? ""} /></code></div>
          </div>
        ))}
      </div>
    );
  }
  return (
    <div class="diff" role="group" tabIndex={0} aria-label="Lines">
      {all.map((row, at) => (
        <div key={at} class={`diff-row ${row.kind}`}>
          <span class="diff-number" aria-hidden="true">{row.oldNumber ?? ""}</span><span class="diff-number" aria-hidden="true">{row.newNumber ?? ""}</span>
          <span class="diff-sign" aria-hidden="true">{SIGNS[row.kind]}</span><code><span class="sr">{SAID[row.kind]}</span><Foreign text={row.text} /></code>
        </div>
      ))}
    </div>
  );
}
