//! Where the person is on the page. Nothing of it is kept.

import { computed, signal } from "@preact/signals";

export type Place = "home" | "inbox" | "session" | "records" | "settings" | "doctor" | "record" | "models";
export const place = signal<Place>("home");

/** The place that an address names, and its session. */
export function placeOf(hash: string): { at: Place; session: string | null } {
  const session = /^#\/s\/([^/]+)(\/record)?/.exec(hash);
  if (session !== null) return { at: session[2] === undefined ? "session" : "records", session: decoded(session[1] as string) };
  const named = /^#\/(inbox|settings|doctor|record|models)(?:$|\/)/.exec(hash);
  return { at: named === null ? "home" : named[1] as Place, session: null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether the list of sessions covers a narrow page. */
export const menuOpen = signal(false);
/** Whether the effects pane is open. */
export const showChanges = signal(false);
/** Whether lines stand side by side: as the page's width has it, unless the person chose. */
const chosenSides = signal<boolean | null>(null);
const wide = matchMedia("(min-width: 90rem)");
const isWide = signal(wide.matches);
wide.addEventListener("change", () => isWide.value = wide.matches);
export const sideBySide = computed(() => chosenSides.value ?? isWide.value);
export function turnSides(): void {
  chosenSides.value = !sideBySide.peek();
}

/** The dialog over a session: its people, or everything that is allowed in it without a question. */
export type Aside = "sharing" | "grants" | "model";
export const aside = signal<Aside | null>(null);
