//! Who uses this page, and what they may do.
//!
//! Told by the server, which checks every right by itself: what is hidden here for want of a right
//! would be refused there.

import { signal } from "@preact/signals";
import { oneLine } from "./foreign";
import type { Row } from "./wire";

export type RightWord = "watch" | "prompt" | "answer" | "change" | "admin";

export interface Me {
  name: string;
  rights: RightWord[];
  /** Whether others use the same server. */
  team: boolean;
  /** Nothing for whoever runs the server. */
  role: string | null;
}

export const me = signal<Me | null>(null);

/** The name by which records have whoever came in by a link of the server. */
export const OWN = "page";

/** Takes in what the server tells. */
export function takeMe(told: unknown): void {
  const found = (told ?? {}) as { name?: unknown; rights?: unknown; team?: unknown; role?: unknown };
  if (typeof found.name !== "string") return;
  me.value = {
    name: found.name,
    rights: Array.isArray(found.rights) ? found.rights as RightWord[] : [],
    team: found.team === true,
    role: typeof found.role === "string" ? found.role : null,
  };
}

/** Whether a name in the record is that of whoever looks at it. */
export function isMe(name: string): boolean {
  return name === (me.value?.name ?? OWN);
}

/** A person or program by the name in the record. */
export function person(name: string): string {
  if (isMe(name)) return "you";
  return name === OWN ? "the operator" : oneLine(name, 60);
}

const SHARED: { [kind: string]: RightWord[] } = {
  watch: ["watch"],
  suggest: ["watch", "prompt"],
  drive: ["watch", "prompt", "answer", "change"],
};

/** Whether a session is the person's own, or shared with them to drive it. */
export function drives(row: Row | undefined): boolean {
  return row?.shared === undefined || row.shared === "drive";
}

/** Whether the person may do something in a session, as far as it is known. */
export function may(right: RightWord, row: Row | undefined): boolean {
  const own = me.value;
  if (own !== null && !own.rights.includes(right)) return false;
  return row?.shared === undefined || (SHARED[row.shared] ?? []).includes(right);
}
