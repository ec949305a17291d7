//! What is shown of many changes before all of them are applied: those that stand out by name, the
//! others counted by folder. The button that applies them is below the whole of it.

import type { JSX } from "preact";
import type { FileChange, Outline } from "../wire";
import { count, fileDetails } from "../words";
import { Foreign, Name, Tag } from "./text";

const HEADINGS: { [why: string]: string } = {
  runs_later: "Runs automatically later",
  program: "Programs and scripts",
  link: "Links",
  deletion: "Deletions",
  odd_name: "Odd names",
  hidden: "Hidden",
  rare_ending: "Rare endings",
  alone: "Others by name",
};

/** The outline of these files. Names that are not among them are left out. */
export function OutlineView({ outline, files, heading: Heading }: { outline: Outline; files: FileChange[]; heading: "h3" | "h4" }): JSX.Element {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reasons = new Map<string, FileChange[]>();
  for (const { path, why } of outline.named) {
    const file = byPath.get(path);
    if (file === undefined) continue;
    const known = reasons.get(why);
    if (known === undefined) reasons.set(why, [file]);
    else known.push(file);
  }
  return (
    <div class="outline">
      {[...reasons].map(([why, these]) => (
        <section key={why}>
          <Heading>{HEADINGS[why] ?? "Others"}</Heading>
          <ul>{these.map((file) => (
            <li key={file.path}><Tag tone={file.change}>{file.change}</Tag> {file.from !== undefined && <><Name text={file.from} /> → </>}<Name text={file.path} />
              {fileDetails(file).map((words) => <span key={words} class="muted"> · {words}</span>)}</li>
          ))}</ul>
        </section>
      ))}
      {outline.counted.length > 0 && (
        <section>
          <Heading>Only counted</Heading>
          <ul>{outline.counted.map((group) => (
            <li key={`${group.change} ${group.from ?? ""} ${group.folder} ${group.ending ?? ""}`}>
              <Tag tone={group.change}>{group.change}</Tag> {count(group.files, "file")}{" "}
              {group.from === undefined ? "in " : <>from <Place folder={group.from} /> to </>}<Place folder={group.folder} />{" "}
              <span class="muted">· {group.ending === undefined ? "no ending" : group.ending === "/" ? "folders" : <>.<Foreign text={group.ending} /></>}</span>
            </li>
          ))}</ul>
        </section>
      )}
    </div>
  );
}

function Place({ folder }: { folder: string }): JSX.Element {
  return folder === "" ? <span class="muted">the work folder</span> : <Name text={folder} />;
}

/** How many of an outline are only counted. */
export function counted(outline: Outline): number {
  return outline.counted.reduce((all, group) => all + group.files, 0);
}
