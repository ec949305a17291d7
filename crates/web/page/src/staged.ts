//! What is staged in a session: asked for, and the decisions about it.

import { request } from "./store";
import type { FileChange, Hunk, Outline, Shown, ShownFile } from "./wire";

interface SentHunk {
  number?: number;
  lines?: string[] | string;
  text?: string;
}

/** What is staged, file by file and hunk by hunk. */
export async function stagedChanges(session: string): Promise<Shown> {
  const ok = await request("changes", { session });
  const files = ((ok["files"] ?? []) as (FileChange & { head?: string; hunks?: SentHunk[] | string[] })[]).map((file): ShownFile => {
    const { hunks, ...rest } = file;
    const shown = (Array.isArray(hunks) ? hunks : []).map((hunk: SentHunk | string, at): Hunk => {
      if (typeof hunk === "string") return { number: at + 1, lines: hunk.replace(/\n$/, "").split("\n") };
      const lines = hunk.lines ?? hunk.text ?? "";
      return { number: hunk.number ?? at + 1, lines: typeof lines === "string" ? lines.replace(/\n$/, "").split("\n") : lines };
    });
    return { ...(rest as FileChange), shown, ...(file.head === undefined ? {} : { head: file.head }) };
  });
  const leftOut = (Array.isArray(ok["left_out"]) ? ok["left_out"] : []) as { path: string; why: string }[];
  const outline = ok["outline"] as Outline | undefined;
  return { id: typeof ok["id"] === "string" ? ok["id"] : "", files, leftOut, ...(outline === undefined ? {} : { outline }) };
}
