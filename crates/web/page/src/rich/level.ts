//! Values as steps of a colour scale. Pure.

import { extent } from "./bins";

/** Steps of a scale. The middle one is zero where a scale has two sides. */
export const LEVELS = 11;

export interface Levels {
  low: number;
  high: number;
  /** Whether values on both sides of zero have colours of their own. */
  isSplit: boolean;
}

export function levelsOf(values: Iterable<number>): Levels {
  const [low, high] = extent(values);
  if (!(low < 0 && high > 0)) return { low, high, isSplit: false };
  const most = Math.max(-low, high);
  return { low: -most, high: most, isSplit: true };
}

/** The step of a value. */
export function levelOf({ low, high }: Levels, value: number): number {
  const at = high > low ? (value - low) / (high - low) : 0.5;
  return Math.max(0, Math.min(LEVELS - 1, Math.floor(at * LEVELS)));
}

/** The class that has the colour of a step. */
export const levelClass = (levels: Levels, level: number): string => `${levels.isSplit ? "split" : "heat"}-${level}`;
