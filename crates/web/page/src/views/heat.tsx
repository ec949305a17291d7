//! Values as colours of cells: one path for all cells of a colour, whatever their number.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Grid } from "../rich/figure";
import { LEVELS, levelClass, levelOf, type Levels } from "../rich/level";
import { numberText } from "../rich/scale";

/** Cells have their values in them if they are as wide and as high as this. */
const CELL = { width: 40, height: 18 };

export function GridView({ chart, inner, levels }: { chart: Grid; inner: { width: number; height: number }; levels: Levels }): JSX.Element {
  const columns = chart.x.names.length;
  const [width, height] = [inner.width / Math.max(1, columns), inner.height / Math.max(1, chart.cells.length)];
  const paths = useMemo(() => {
    const found: string[][] = Array.from({ length: LEVELS }, () => []);
    for (const [row, cells] of chart.cells.entries()) {
      // Neighbours of one colour are one rectangle.
      for (let from = 0; from < cells.length;) {
        const level = levelAt(cells[from], levels);
        let to = from + 1;
        while (to < cells.length && levelAt(cells[to], levels) === level) to += 1;
        if (level !== null) found[level]?.push(`M${(from * width).toFixed(2)} ${(row * height).toFixed(2)}h${((to - from) * width).toFixed(2)}v${height.toFixed(2)}h${(-(to - from) * width).toFixed(2)}z`);
        from = to;
      }
    }
    return found.map((all) => all.join(""));
  }, [chart, width, height, levels]);
  const hasText = width >= CELL.width && height >= CELL.height;
  return (
    <>
      {paths.map((path, level) => path !== "" && <path key={level} class={`cells ${levelClass(levels, level)}`} d={path} />)}
      {hasText && (
        <g aria-hidden="true" class="cell-values">
          {chart.cells.flatMap((row, at) => row.map((value, index) => value !== null && (
            <text key={`${at} ${index}`} class={isStrong(levels, levelOf(levels, value)) ? "on-strong" : ""} x={((index + 0.5) * width).toFixed(1)} y={((at + 0.5) * height).toFixed(1)} dy="0.32em" text-anchor="middle">{numberText(value, 3)}</text>
          )))}
        </g>
      )}
    </>
  );
}

const levelAt = (value: number | null | undefined, levels: Levels): number | null => (value === null || value === undefined ? null : levelOf(levels, value));

/** Whether a colour is so strong that letters on it need the ground's colour. */
const isStrong = ({ isSplit }: Levels, level: number): boolean => (isSplit ? Math.abs(level - 5) >= 4 : level >= 5);
