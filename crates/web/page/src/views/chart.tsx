//! A chart as a drawing of the page's own, in its colours, with its data as a table.

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { dataOf, spoken } from "../rich/data";
import type { Chart, Plane } from "../rich/figure";
import { LEVELS, levelClass, type Levels, levelsOf } from "../rich/level";
import { numberText, type Scale, scales, ticks } from "../rich/scale";
import { GridView } from "./heat";
import { label, Marks, tone } from "./marks";
import { PieView } from "./pie";
import { TableView } from "./table";

/** Pixels beside the axes. */
const ROOM = { left: 64, right: 16, top: 16, bottom: 52 };
/** Pixels of a letter, more or less. */
const LETTER = 6.5;
/** Characters of a label below the chart. */
const LABEL = 14;

/** Width and height between the axes. */
export interface Inner {
  left: number;
  width: number;
  height: number;
}

/** The room that a drawing has, in the page's own pixels, so that its letters are as large as others. */
function useRoom(): [{ current: HTMLDivElement | null }, number] {
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
  return [box, wide];
}

/** The room of a chart whose names are on the left. */
function innerOf(wide: number, names: string[], row: number, most: number): Inner {
  const longest = names.reduce((most, name) => Math.max(most, Math.min(24, name.length)), 0);
  const left = Math.max(ROOM.left, Math.min(longest * LETTER + 36, wide * 0.4));
  const usual = Math.min(320, Math.round(wide * 0.5));
  return { left, width: wide - left - ROOM.right, height: Math.max(usual, Math.min(most, names.length * row)) };
}

export function ChartView({ chart }: { chart: Chart }): JSX.Element {
  const [box, wide] = useRoom();
  const words = useMemo(() => label(spoken(chart), 400), [chart]);
  return (
    <div ref={box} class="chart">
      {chart.title !== "" && <p class="chart-title"><bdi>{label(chart.title, 120)}</bdi></p>}
      {chart.shape === "pie" ? <PieView chart={chart} wide={wide} words={words} />
        : chart.shape === "grid" ? <GridChart chart={chart} wide={wide} words={words} />
          : <PlaneView chart={chart} wide={wide} words={words} />}
    </div>
  );
}

/** The values of a chart, as a table. */
export function ValuesView({ chart }: { chart: Chart }): JSX.Element | null {
  const table = useMemo(() => dataOf(chart), [chart]);
  return table === null ? null : <TableView table={table} />;
}

function Drawing({ inner, words, children }: { inner: Inner; words: string; children: ComponentChildren }): JSX.Element {
  return (
    <svg class="drawing" viewBox={`0 0 ${inner.width + inner.left + ROOM.right} ${inner.height + ROOM.top + ROOM.bottom}`} role="img" aria-label={words}>
      <g transform={`translate(${inner.left} ${ROOM.top})`}>{children}</g>
    </svg>
  );
}

function PlaneView({ chart, wide, words }: { chart: Plane; wide: number; words: string }): JSX.Element {
  const inner = useMemo(() => innerOf(wide, chart.isFlat ? chart.x.names : [], 20, 560), [chart, wide]);
  const drawn = useMemo(() => scales(chart, inner.width, inner.height), [chart, inner]);
  const named = chart.series.filter((one) => one.name !== "");
  const levels = useMemo(() => {
    const heats = chart.series.flatMap((one) => one.points.flatMap(({ heat }) => (heat === undefined ? [] : [heat])));
    return heats.length === 0 ? null : levelsOf(heats);
  }, [chart]);
  const [across, up] = chart.isFlat ? [drawn.y, drawn.x] : [drawn.x, drawn.y];
  const [acrossTitle, upTitle] = chart.isFlat ? [chart.y.title, chart.x.title] : [chart.x.title, chart.y.title];
  return (
    <>
      {named.length > 1 && (
        <ul class="legend">{chart.series.map((one, at) => one.name !== "" && <li key={at}><span class={`swatch ${tone(at)}`} aria-hidden="true" /><bdi>{label(one.name, 40)}</bdi></li>)}</ul>
      )}
      {levels !== null && <ScaleLegend levels={levels} title={chart.heat} />}
      <Drawing inner={inner} words={words}>
        <Axes inner={inner} across={across} up={up} acrossTitle={acrossTitle} upTitle={upTitle} unit={chart.together === "share" ? " %" : ""} grid={chart.isFlat ? "across" : "up"} />
        <Marks chart={chart} x={drawn.x} y={drawn.y} inner={inner} levels={levels} />
      </Drawing>
    </>
  );
}

function GridChart({ chart, wide, words }: { chart: Extract<Chart, { shape: "grid" }>; wide: number; words: string }): JSX.Element {
  const inner = useMemo(() => innerOf(wide, chart.y.names, 22, Math.min(560, wide)), [chart, wide]);
  const levels = useMemo(() => levelsOf(chart.cells.flatMap((row) => row.filter((value) => value !== null))), [chart]);
  const scale = (names: string[], room: number): Scale => {
    const step = room / names.length;
    // Names may be there twice, so a place is its number.
    return { kind: "category", low: 0, high: names.length, names: names.map((_, at) => String(at)), step, place: (value) => (Number(value) + 0.5) * step };
  };
  const [across, up] = [scale(chart.x.names, inner.width), scale(chart.y.names, inner.height)];
  return (
    <>
      <ScaleLegend levels={levels} title={chart.value} />
      <Drawing inner={inner} words={words}>
        <Axes inner={inner} across={across} up={up} acrossTitle={chart.x.title} upTitle={chart.y.title} unit="" grid="none" names={[chart.x.names, chart.y.names]} />
        <GridView chart={chart} inner={inner} levels={levels} />
      </Drawing>
    </>
  );
}

/** Which values the colours stand for. */
function ScaleLegend({ levels, title }: { levels: Levels; title: string }): JSX.Element {
  return (
    <p class="legend scale">
      {title !== "" && <bdi>{label(title, 40)}</bdi>}
      <span>{numberText(levels.low, 4)}</span>
      <span class="steps" aria-hidden="true">{Array.from({ length: LEVELS }, (_, at) => <span key={at} class={`swatch ${levelClass(levels, at)}`} />)}</span>
      <span>{numberText(levels.high, 4)}</span>
    </p>
  );
}

/** Where zero is on an axis, or its end. */
const zeroOf = (scale: Scale, end: number): number => (scale.kind === "number" && scale.low < 0 && scale.high > 0 ? scale.place(0) : end);

interface AxesOf {
  inner: Inner;
  across: Scale;
  up: Scale;
  acrossTitle: string;
  upTitle: string;
  /** Stands behind each value. */
  unit: string;
  /** The axis that has lines through the chart. */
  grid: "across" | "up" | "none";
  /** Labels of the places, by their numbers. */
  names?: [string[], string[]];
}

function Axes({ inner, across, up, acrossTitle, upTitle, unit, grid, names }: AxesOf): JSX.Element {
  const upLetters = Math.max(6, Math.floor((inner.left - (upTitle === "" ? 12 : 30)) / LETTER));
  const named = (text: string, all: string[] | undefined, most: number) => label(all === undefined ? text : all[Number(text)] ?? "", most);
  const longest = names === undefined ? LABEL : names[0].reduce((most, name) => Math.max(most, Math.min(LABEL, name.length)), 1);
  // Dates are longer than numbers.
  const wanted = Math.max(3, Math.min(8, Math.floor(inner.width / (across.kind === "time" ? 80 : 56))));
  // Numbers stand for the names here, so the room that a name needs is counted beforehand.
  const every = names === undefined ? 1 : Math.max(1, Math.ceil((longest * LETTER + 10) / Math.max(across.step, 0.001)));
  const below = names === undefined ? ticks(across, wanted, LABEL) : across.names.filter((_, at) => at % every === 0).map((name) => ({ at: across.place(name), label: name }));
  return (
    <g class="axes" aria-hidden="true">
      {ticks(up, 6, 0).map(({ at, label: text }) => (
        <g key={at}>
          {grid === "up" && <line class="grid" x1={0} x2={inner.width} y1={at} y2={at} />}
          <text x={-8} y={at} dy="0.32em" text-anchor="end">{named(text, names?.[1], upLetters)}{grid === "up" && unit}</text>
        </g>
      ))}
      {below.map(({ at, label: text }) => {
        const shown = named(text, names?.[0], LABEL) + (grid === "across" ? unit : "");
        const half = (shown.length * LETTER) / 2;
        return (
          <g key={at}>
            {grid === "across" && <line class="grid" x1={at} x2={at} y1={0} y2={inner.height} />}
            <text x={Math.min(at, Math.max(0, inner.width + ROOM.right - half))} y={inner.height + 18} text-anchor="middle">{shown}</text>
          </g>
        );
      })}
      {grid === "across" ? <line class="base" x1={zeroOf(across, 0)} x2={zeroOf(across, 0)} y1={0} y2={inner.height} />
        : grid === "up" && <line class="base" x1={0} x2={inner.width} y1={zeroOf(up, inner.height)} y2={zeroOf(up, inner.height)} />}
      {acrossTitle !== "" && <text class="axis-title" x={inner.width / 2} y={inner.height + 42} text-anchor="middle">{label(acrossTitle, Math.max(10, Math.floor(inner.width / LETTER)))}</text>}
      {upTitle !== "" && <text class="axis-title" transform={`translate(${14 - inner.left} ${inner.height / 2}) rotate(-90)`} text-anchor="middle">{label(upTitle, Math.max(10, Math.floor(inner.height / LETTER)))}</text>}
    </g>
  );
}
