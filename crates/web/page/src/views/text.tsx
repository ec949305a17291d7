//! Foreign text as elements: everything invisible is spelled out and looks spelled out.

import type { ComponentChildren, JSX } from "preact";
import { oneLine, pieces } from "../foreign";

/** Text that somebody else wrote. */
export function Foreign({ text }: { text: string }): JSX.Element {
  const all = pieces(text);
  if (all.length === 1 && !(all[0] as { spelled: boolean }).spelled) return <>{(all[0] as { text: string }).text}</>;
  return (
    <>
      {all.map((piece, at) =>
        piece.spelled ? <span key={at} class="spelled">{piece.text}</span> : piece.text)}
    </>
  );
}

/** A name of a file, host or folder, on one line and apart from the direction of its surroundings. */
export function Name({ text, most }: { text: string; most?: number }): JSX.Element {
  return <bdi class="name">{oneLine(text, most ?? Number.POSITIVE_INFINITY)}</bdi>;
}

/** A small word in a box. */
export function Tag({ tone, children }: { tone?: string; children: ComponentChildren }): JSX.Element {
  return <span class={`tag ${tone === undefined ? "" : `tag-${tone}`}`}>{children}</span>;
}

const PATHS: { [name: string]: string } = {
  menu: "M3 5h14M3 10h14M3 15h14",
  close: "M5 5l10 10M15 5L5 15",
  plus: "M10 4v12M4 10h12",
  inbox: "M3 11l2.5-6h9L17 11v4H3zM3 11h4l1 2h4l1-2h4",
  changes: "M5 3h7l3 3v11H5zM8 8.5h4M10 6.5v4M8 13.5h4",
  stop: "M6 6h8v8H6z",
  send: "M4 10h11M10 5l5 5-5 5",
  moon: "M15.5 12A6.5 6.5 0 018 4.5a6.5 6.5 0 107.5 7.5z",
  sun: "M10 6.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.5 4.5l1.4 1.4M14.1 14.1l1.4 1.4M15.5 4.5l-1.4 1.4M5.9 14.1l-1.4 1.4",
  folder: "M3 6h5l1.5 2H17v8H3z",
  clip: "M15.5 9.5l-5.6 5.6a3.4 3.4 0 01-4.8-4.8l6-6a2.3 2.3 0 013.2 3.2l-5.9 5.9a1.1 1.1 0 01-1.6-1.6l5.2-5.2",
  save: "M10 3v9M6.5 8.5L10 12l3.5-3.5M4 16h12",
  person: "M10 10a3.2 3.2 0 100-6.4 3.2 3.2 0 000 6.4zM3.8 16.8c.5-3 3-4.8 6.2-4.8s5.7 1.8 6.2 4.8",
  fold: "M6 8l4 4 4-4",
  models: "M10 2.5l6.5 3.75v7.5L10 17.5l-6.5-3.75v-7.5zM3.5 6.25L10 10l6.5-3.75M10 10v7.5",
  settings: "M3 6h7M14 6h3M12 4v4M3 14h3M10 14h7M8 12v4",
  doctor: "M2.5 10h3.5l2-5 3.5 10 2-5h4",
  record: "M10 2.5l6 2v5c0 4-2.5 6.5-6 8-3.5-1.5-6-4-6-8v-5zM7.5 10l2 2 3.5-4",
};

export function Icon({ name }: { name: string }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}
