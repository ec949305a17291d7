//! The settings in force: value, origin and meaning of each. Read only; files are edited elsewhere.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { lastPart } from "../words";
import type { Setting } from "../wire";
import { Problem, useLooked, Words } from "./looked";
import { Foreign, Name, Tag } from "./text";
import { Top } from "./top";

const ORIGINS: { [layer: string]: string } = {
  default: "Default", user: "Your file", profile: "Profile", project: "Project", environment: "Environment", "command-line": "Command line",
};

/** A value in words. */
function valueWords(value: unknown): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return "not set";
  if (Array.isArray(value)) return value.map(valueWords).join(", ");
  if (typeof value === "object") {
    return Object.entries(value as { [name: string]: unknown }).filter(([, one]) => one !== null).map(([name, one]) => `${name} ${valueWords(one)}`).join(", ");
  }
  return String(value);
}

function origin(row: Setting): string {
  switch (row.origin.layer) {
    case "environment": return row.variable ?? "";
    case "command-line": return row.option ?? "";
    default: return typeof row.origin.file === "string" ? `${row.origin.file}:${row.origin.line ?? ""}` : "";
  }
}

export function SettingsView(): JSX.Element {
  const looked = useLooked("settings", true);
  const [words, setWords] = useState("");
  const [onlySet, setOnlySet] = useState(false);
  const all = (looked.ok?.["settings"] ?? []) as Setting[];
  const wanted = words.trim().toLowerCase().split(/\s+/).filter((word) => word !== "");
  const shown = all.filter((row) => {
    if (onlySet && row.origin.layer === "default") return false;
    const text = `${row.name} ${row.meaning} ${valueWords(row.value)} ${ORIGINS[row.origin.layer] ?? ""} ${origin(row)}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const set = all.filter((row) => row.origin.layer !== "default").length;
  return (
    <div class="talk">
      <Top title="Settings" about={<span>Later ones win: your file, profile, project, environment, command line</span>} />
      <div class="entries" tabIndex={0} role="group" aria-label="Settings">
        <div class="column wide">
          <div class="tools">
            <label class="search"><span class="sr">Search settings</span><input type="search" placeholder="Search settings" value={words} data-field="settings" onInput={(event) => setWords(event.currentTarget.value)} /></label>
            <label class="tick"><input type="checkbox" checked={onlySet} data-field="only-set" onChange={(event) => setOnlySet(event.currentTarget.checked)} /> Only those that are set ({set})</label>
          </div>
          {looked.failure !== null && <Problem failure={looked.failure} />}
          {looked.ok === null && looked.busy && <p class="muted">Reading the settings…</p>}
          {looked.ok !== null && (
            <>
              <table class="settings" role="table" aria-label="Settings">
                <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Setting</th><th role="columnheader" scope="col">Value</th><th role="columnheader" scope="col">Origin</th></tr></thead>
                <tbody role="rowgroup">{shown.map((row, at) => <Line key={`${row.name} ${at}`} row={row} />)}</tbody>
              </table>
              {shown.length === 0 && <p class="muted">No setting has these words.</p>}
              <p class="muted after">To change one, edit your file with <code>interpreter config edit</code>, or pass an option. New sessions use it.</p>
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function Line({ row }: { row: Setting }): JSX.Element {
  const isSet = row.origin.layer !== "default";
  const value = valueWords(row.value);
  const from = origin(row);
  return (
    <tr role="row" class={isSet ? "is-set" : ""} data-setting={row.name}>
      <th role="rowheader" scope="row"><code class="name"><Foreign text={row.name} /></code><span class="meaning"><Words text={row.meaning} /></span></th>
      <td role="cell" class="setting-value"><code class={value === "not set" ? "muted" : ""}><Foreign text={value} /></code>{isSet && <span class="muted setting-default">default: <Foreign text={valueWords(row.default)} /></span>}</td>
      <td role="cell" class="setting-origin"><Tag {...(isSet ? { tone: "changed" } : {})}>{ORIGINS[row.origin.layer] ?? row.origin.layer}</Tag>{from !== "" && <span class="muted" title={from}>{row.origin.layer === "environment" || row.origin.layer === "command-line" ? <Name text={from} /> : <Name text={lastPart(from)} most={60} />}</span>}</td>
    </tr>
  );
}
