//! A pie, with a list of its slices.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { share, slicesOf, totalOf } from "../rich/data";
import type { Pie } from "../rich/figure";
import { label, tone } from "./marks";

/** Slices that are drawn, and the least share that is named beside its slice. */
const MOST = 16;
const LEAST = 0.03;
/** A drawing of this width has names beside the slices. */
const WIDE = 480;
/** Pixels of a letter, more or less. */
const LETTER = 6.8;

interface Label {
  y: number;
  left: number;
  right: number;
}

export function PieView({ chart, wide, words }: { chart: Pie; wide: number; words: string }): JSX.Element {
  const slices = useMemo(() => slicesOf(chart.slices, MOST), [chart]);
  const total = totalOf(slices);
  const isWide = wide >= WIDE;
  const radius = Math.min(120, wide / 2 - (isWide ? 130 : 56));
  const [width, height] = [wide, radius * 2 + 48];
  const hole = chart.hasHole ? radius * 0.55 : 0;
  let before = 0;
  const labels: Label[] = [];
  const drawn = slices.map(({ name, value }) => {
    const [from, to] = [before / total, (before + value) / total];
    before += value;
    return { name, from, to, value };
  });
  return (
    <>
      <ul class="legend">
        {slices.map(({ name, value }, at) => <li key={at}><span class={`swatch ${tone(at)}`} aria-hidden="true" /><bdi>{label(name, 40)}</bdi><span class="muted">{share(value, total)}</span></li>)}
      </ul>
      <svg class="drawing" viewBox={`0 0 ${width} ${height.toFixed(0)}`} role="img" aria-label={words}>
        <g transform={`translate(${width / 2} ${height / 2})`}>
          {drawn.map(({ from, to }, at) => <path key={at} class={`slice ${tone(at)}`} d={slice(from, to, radius, hole)} />)}
          <g aria-hidden="true">
            {drawn.map(({ name, from, to, value }, at) => {
              if (to - from < LEAST) return null;
              const angle = (from + to) * Math.PI;
              const [x, y] = [Math.sin(angle) * (radius + 10), -Math.cos(angle) * (radius + 12)];
              const anchor = Math.abs(x) < 20 ? "middle" : x > 0 ? "start" : "end";
              const words = `${isWide ? `${label(name, 14)} ` : ""}${share(value, total)}`;
              const wide = words.length * LETTER;
              const left = anchor === "start" ? x : anchor === "end" ? x - wide : x - wide / 2;
              // A label that would lie on another one is only in the list.
              if (labels.some((one) => Math.abs(one.y - y) < 14 && left < one.right && left + wide > one.left)) return null;
              labels.push({ y, left, right: left + wide });
              return <text key={at} x={x.toFixed(1)} y={y.toFixed(1)} dy="0.32em" text-anchor={anchor}>{words}</text>;
            })}
          </g>
        </g>
      </svg>
    </>
  );
}

/** A slice between two shares of a circle. */
function slice(from: number, to: number, radius: number, hole: number): string {
  // An arc that ends where it begins would be nothing.
  const end = Math.min(to, from + 0.9999);
  const at = (share: number, size: number) => `${(Math.sin(share * 2 * Math.PI) * size).toFixed(2)} ${(-Math.cos(share * 2 * Math.PI) * size).toFixed(2)}`;
  const large = end - from > 0.5 ? 1 : 0;
  const arc = (size: number, sweep: number, share: number) => `A${size} ${size} 0 ${large} ${sweep} ${at(share, size)}`;
  return `M${at(from, radius)}${arc(radius, 1, end)}L${at(end, hole)}${hole > 0 ? arc(hole, 0, from) : ""}z`;
}
