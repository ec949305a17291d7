//! The marks of a chart with axes, as few elements.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { oneLine } from "../foreign";
import { type MarksOf, pathsOf } from "../rich/paths";

const COLOURS = 8;

/** The colour of a series. When all were there, they come again and look broken or pale. */
export const tone = (at: number): string => `tone-${at % COLOURS} round-${Math.min(2, Math.floor(at / COLOURS))}`;

/** Foreign text as a label, of which only the beginning is read. */
export const label = (text: string, most: number): string => oneLine(text.slice(0, most * 4), most);

export function Marks({ chart, x, y, inner, levels }: MarksOf): JSX.Element {
  const drawn = useMemo(() => pathsOf({ chart, x, y, inner, levels }), [chart, x, y, inner, levels]);
  const isPale = chart.together === "overlay" && chart.series.filter((one) => one.kind === "bar").length > 1;
  return <>{drawn.map((all, at) => <g key={at} class={`${tone(at)}${isPale ? " pale" : ""}`}>{all.map(([name, path]) => <path key={name} class={name} d={path} />)}</g>)}</>;
}
