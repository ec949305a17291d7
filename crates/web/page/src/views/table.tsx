//! A table of any length, of which only the rows in sight are elements.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { oneLine } from "../foreign";
import type { Table } from "../rich/table";
import { count } from "../words";

/** Pixels of a row, as the style has it. */
const ROW = 28;
const AROUND = 12;
/** Columns that are drawn, and characters of a cell. */
const COLUMNS = 60;
const CELL = 200;

/** The width of each column, in characters of what is in its first rows. */
function widths(table: Table): number[] {
  const first = table.rows.slice(0, 200);
  return table.names.slice(0, COLUMNS).map((name, at) => Math.min(44, Math.max(4, name.length, ...first.map((row) => (row[at] ?? "").length)) + 2));
}

export function TableView({ table }: { table: Table }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 420 });
  useLayoutEffect(() => {
    if (box.current !== null) setSeen({ top: 0, height: box.current.clientHeight });
  }, [table]);
  const wide = useMemo(() => widths(table), [table]);
  const total = table.rows.length;
  const first = Math.max(0, Math.floor(seen.top / ROW) - AROUND);
  const last = Math.min(total, Math.ceil((seen.top + seen.height) / ROW) + AROUND);
  const shown = wide.length;
  return (
    <>
      <div ref={box} class="table-box" tabIndex={0} role="group" aria-label={`Table, ${count(total, "row")}`}
        onScroll={({ currentTarget }) => setSeen({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })}>
        <table class="data-table" aria-rowcount={total + 1} style={{ width: `${wide.reduce((one, other) => one + other, 0)}ch` }}>
          <colgroup>{wide.map((width, at) => <col key={at} style={{ width: `${width}ch` }} />)}</colgroup>
          <thead><tr aria-rowindex={1}>{table.names.slice(0, shown).map((name, at) => <th key={at} scope="col" class={table.numeric[at] === true ? "numeric" : ""}><bdi>{oneLine(name, CELL)}</bdi></th>)}</tr></thead>
          {first > 0 && <tbody aria-hidden="true"><tr style={{ height: `${first * ROW}px` }}><td colSpan={shown} /></tr></tbody>}
          <tbody>
            {table.rows.slice(first, last).map((row, at) => (
              <tr key={first + at} aria-rowindex={first + at + 2}>
                {wide.map((_, column) => <td key={column} class={table.numeric[column] === true ? "numeric" : ""}><bdi>{oneLine(row[column] ?? "", CELL)}</bdi></td>)}
              </tr>
            ))}
          </tbody>
          {last < total && <tbody aria-hidden="true"><tr style={{ height: `${(total - last) * ROW}px` }}><td colSpan={shown} /></tr></tbody>}
        </table>
      </div>
      <p class="muted table-about">{count(total, "row")}{table.names.length > shown ? `, the first ${shown} of ${count(table.names.length, "column")}` : `, ${count(table.names.length, "column")}`}</p>
    </>
  );
}
