//! What is staged in a session: asked for, and the decisions about it.

import { request } from "./store";
import type { FileChange, Hunk, Outline, Shown, ShownFile, ShownLeftOut } from "./wire";

interface SentHunk {
  number?: number;
  lines?: string[] | string;
  text?: string;
}

interface Sent {
  head?: string;
  hunks?: SentHunk[] | string[];
}

function shownHunks(hunks: SentHunk[] | string[] | undefined): Hunk[] {
  return (Array.isArray(hunks) ? hunks : []).map((hunk: SentHunk | string, at): Hunk => {
    if (typeof hunk === "string") return { number: at + 1, lines: hunk.replace(/\n$/, "").split("\n") };
    const lines = hunk.lines ?? hunk.text ?? "";
    return { number: hunk.number ?? at + 1, lines: typeof lines === "string" ? lines.replace(/\n$/, "").split("\n") : lines };
  });
}

/** What is staged, file by file and hunk by hunk. */
export async function stagedChanges(session: string): Promise<Shown> {
  const ok = await request("changes", { session });
  const files = ((ok["files"] ?? []) as (FileChange & Sent)[]).map((file): ShownFile => {
    const { hunks, ...rest } = file;
    return { ...rest, shown: shownHunks(hunks) };
  });
  const leftOut = ((ok["left_out"] ?? []) as (Omit<ShownLeftOut, "shown"> & Sent)[]).map((one): ShownLeftOut => {
    const { hunks, ...rest } = one;
    return { ...rest, shown: shownHunks(hunks) };
  });
  const outline = ok["outline"] as Outline | undefined;
  return { id: typeof ok["id"] === "string" ? ok["id"] : "", files, leftOut, ...(outline === undefined ? {} : { outline }) };
}
