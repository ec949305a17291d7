//! Keeps a yes deliberate: keys and clicks that were meant for something else never answer.
//!
//! A card accepts an answer only after it has stood still, in sight, for a moment; a key only after
//! the card has also had the focus for that long, and never while it repeats. Times are those of
//! the events themselves, so a busy page cannot turn an early click into a late one.

import { useEffect, useRef } from "preact/hooks";

/** Milliseconds that a card must have stood still. */
const STILL = 500;
/** After this long without a frame the card was out of sight. */
const UNSEEN = 1_000;

export interface Guard {
  /** Whether this event may answer. */
  allows(event: Event): boolean;
}

export function useGuard(card: { current: HTMLElement | null }, isOpen: boolean): Guard {
  const state = useRef({ still: Number.POSITIVE_INFINITY, seen: 0, focused: Number.POSITIVE_INFINITY, top: NaN, left: NaN });
  useEffect(() => {
    const element = card.current;
    const own = state.current;
    own.still = Number.POSITIVE_INFINITY;
    // A card that is asked anew in the same place is seen anew, too.
    own.top = NaN;
    if (!isOpen || element === null) return;
    let frame = 0;
    const look = (now: number) => {
      const { top, left } = element.getBoundingClientRect();
      const isMoved = Math.abs(top - own.top) > 2 || Math.abs(left - own.left) > 2 || Number.isNaN(own.top);
      if (isMoved || now - own.seen > UNSEEN) {
        own.still = performance.now();
        own.top = top;
        own.left = left;
      }
      own.seen = now;
      frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    const gained = () => {
      if (own.focused === Number.POSITIVE_INFINITY) own.focused = performance.now();
    };
    const lost = (event: FocusEvent) => {
      if (!(event.relatedTarget instanceof Node && element.contains(event.relatedTarget))) own.focused = Number.POSITIVE_INFINITY;
    };
    element.addEventListener("focusin", gained);
    element.addEventListener("focusout", lost);
    if (element.contains(document.activeElement)) gained();
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("focusin", gained);
      element.removeEventListener("focusout", lost);
    };
  }, [isOpen]);
  return {
    allows(event: Event): boolean {
      const own = state.current;
      const element = card.current;
      if (element === null || !event.isTrusted || document.hidden) return false;
      const { top, left } = element.getBoundingClientRect();
      if (Math.abs(top - own.top) > 2 || Math.abs(left - own.left) > 2) return false;
      if (event.timeStamp - own.still < STILL) return false;
      const byKey = event instanceof KeyboardEvent || (event instanceof MouseEvent && event.detail === 0);
      if (event instanceof KeyboardEvent && event.repeat) return false;
      return !byKey || event.timeStamp - own.focused >= STILL;
    },
  };
}
