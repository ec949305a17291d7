//! A chart as a drawing of the page's own, in its colours, with its data as a table.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { oneLine } from "../foreign";
import type { Chart, Series } from "../rich/chart";
import { type Scale, scales, stacked, ticks } from "../rich/scale";
import { ofRecords } from "../rich/table";
import { TableView } from "./table";

const ROOM = { left: 64, right: 16, top: 16, bottom: 52 };
/** Width and height between the axes. */
interface Inner {
  width: number;
  height: number;
}

/** The room that a drawing has, in the page's own pixels, so that its letters are as large as others. */
function useRoom(): [{ current: HTMLDivElement | null }, Inner] {
  const box = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(720);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = () => setWide(Math.max(240, element.clientWidth - 24));
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, []);
  const inner = useMemo(() => ({ width: wide - ROOM.left - ROOM.right, height: Math.min(320, Math.round(wide * 0.5)) }), [wide]);
  return [box, inner];
}
/** Characters of a label, and labels below the chart. */
const LABEL = 14;
const COLOURS = 8;

export function ChartView({ chart }: { chart: Chart }): JSX.Element {
  const [box, inner] = useRoom();
  const drawn = useMemo(() => scales(chart, inner.width, inner.height), [chart, inner]);
  const title = chart.title === "" ? `Chart of ${[chart.y.title, chart.x.title].filter((one) => one !== "").join(" by ") || "values"}` : chart.title;
  const named = chart.series.filter((one) => one.name !== "");
  return (
    <div ref={box} class="chart">
      {chart.title !== "" && <p class="chart-title"><bdi>{oneLine(chart.title, 120)}</bdi></p>}
      {named.length > 1 && (
        <ul class="legend">{chart.series.map((one, at) => <li key={at}><span class={`swatch tone-${at % COLOURS}`} aria-hidden="true" /><bdi>{oneLine(one.name, 40)}</bdi></li>)}</ul>
      )}
      <svg class="drawing" viewBox={`0 0 ${inner.width + ROOM.left + ROOM.right} ${inner.height + ROOM.top + ROOM.bottom}`} role="img" aria-label={oneLine(title, 200)}>
        <g transform={`translate(${ROOM.left} ${ROOM.top})`}>
          <Axes chart={chart} inner={inner} x={drawn.x} y={drawn.y} />
          {chart.series.map((one, at) => <Marks key={at} chart={chart} one={one} at={at} x={drawn.x} y={drawn.y} />)}
        </g>
      </svg>
    </div>
  );
}

/** The values of a chart, as a table. */
export function ValuesView({ chart }: { chart: Chart }): JSX.Element | null {
  const table = useMemo(() => dataOf(chart), [chart]);
  return table === null ? null : <TableView table={table} />;
}

function dataOf(chart: Chart) {
  const name = chart.x.title === "" ? "x" : chart.x.title;
  const value = chart.y.title === "" || chart.y.title === name ? "y" : chart.y.title;
  const shown = (x: number | string) => (chart.x.kind === "time" ? new Date(Number(x)).toISOString() : x);
  return ofRecords(chart.series.flatMap((one) => one.points.map(({ x, y }) => ({ ...(chart.series.length > 1 ? { series: one.name } : {}), [name]: shown(x), [value]: y }))));
}

function Axes({ chart, inner, x, y }: { chart: Chart; inner: Inner; x: Scale; y: Scale }): JSX.Element {
  return (
    <g class="axes" aria-hidden="true">
      {ticks(y, 6).map(({ at, label }) => (
        <g key={label}><line class="grid" x1={0} x2={inner.width} y1={at} y2={at} /><text x={-8} y={at} dy="0.32em" text-anchor="end">{oneLine(label, LABEL)}</text></g>
      ))}
      {ticks(x, Math.max(2, Math.min(8, Math.floor(inner.width / 80)))).map(({ at, label }) => <text key={`${label}${at}`} x={at} y={inner.height + 18} text-anchor="middle">{oneLine(label, LABEL)}</text>)}
      <line class="base" x1={0} x2={inner.width} y1={inner.height} y2={inner.height} />
      {chart.x.title !== "" && <text class="axis-title" x={inner.width / 2} y={inner.height + 42} text-anchor="middle">{oneLine(chart.x.title, 60)}</text>}
      {chart.y.title !== "" && <text class="axis-title" transform={`translate(-50 ${inner.height / 2}) rotate(-90)`} text-anchor="middle">{oneLine(chart.y.title, 40)}</text>}
    </g>
  );
}

function Marks({ chart, one, at, x, y }: { chart: Chart; one: Series; at: number; x: Scale; y: Scale }): JSX.Element {
  const tone = `tone-${at % COLOURS}`;
  if (one.kind === "bar") {
    const bars = chart.series.filter((other) => other.kind === "bar");
    const place = chart.isStacked ? 0 : bars.indexOf(one);
    const width = Math.max(1, (x.step * 0.8) / (chart.isStacked ? 1 : bars.length));
    const path = stacked(chart, one).map(({ x: value, from, to }) => {
      const left = x.place(value) - x.step * 0.4 + place * width;
      const [top, bottom] = [y.place(Math.max(from, to)), y.place(Math.min(from, to))];
      return `M${left.toFixed(1)} ${bottom.toFixed(1)}V${top.toFixed(1)}h${Math.max(1, width - 1).toFixed(1)}V${bottom.toFixed(1)}z`;
    });
    return <path class={`bars ${tone}`} d={path.join("")} />;
  }
  const points = one.points.map((point) => `${x.place(point.x).toFixed(1)} ${y.place(point.y).toFixed(1)}`);
  return (
    <>
      {one.kind !== "points" && <path class={`line ${tone}`} d={`M${points.join("L")}`} />}
      {one.kind !== "line" && <path class={`points ${tone}`} d={points.map((point) => `M${point}h0`).join("")} />}
    </>
  );
}
