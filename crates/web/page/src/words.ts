//! The page's own words for risks, states and what code would do. Pure but for whose name is one's own.

import { oneLine } from "./foreign";
import { person } from "./who";
import type { Capability, FileChange, InboxQuestion, Person, Question, Quorum, Risk, SessionWord } from "./wire";

export const RISKS: { [risk in Risk]: { word: string; words: string } } = {
  low: { word: "Low risk", words: "Nothing graver was found than reading, computing or changing plain, staged files." },
  medium: { word: "Medium risk", words: "Some of it needs a look, such as changing other files or starting programs." },
  unknown: { word: "Risk unknown", words: "The analysis can't tell what it does." },
  high: { word: "High risk", words: "Some of it can do real harm, such as deleting or reaching the network; see below." },
};

export const STATES: { [state in SessionWord]: string } = {
  idle: "Ready", thinking: "Thinking", asking: "Asks you", running: "Running", ended: "Ended",
};

/** Words of a finding: those for a known object, and those for one that is computed. */
const DEEDS: { [name: string]: [string, string] } = {
  reads: ["reads", "reads a file whose name is computed"],
  lists: ["lists", "lists a folder"],
  writes: ["writes", "writes a file whose name is computed"],
  deletes: ["deletes", "deletes something that is computed"],
  starts: ["starts", "starts a program whose name is computed"],
  kills: ["ends", "ends other programs"],
  watches: ["watches:", "watches programs or input"],
  connects: ["connects to", "connects to a host that is computed"],
  environment: ["reads the environment variable", "reads all environment variables"],
  credentials: ["reads credentials:", "reads credentials"],
  permissions: ["changes the permissions of", "changes permissions"],
  packages: ["installs", "changes what is installed"],
  persists: ["arranges to run later:", "arranges to run later"],
  privileges: ["uses other rights:", "uses other rights"],
  hides: ["hides what it does:", "hides what it does"],
  deserialises: ["loads data that can run code:", "loads data that can run code"],
  endless: ["may never end:", "may never end"],
  floods: ["may use up memory or disk:", "may use up memory or disk"],
  irreversible: ["cannot be undone:", "does what cannot be undone"],
  unreadable: ["cannot be analysed:", "cannot be analysed"],
};

/** How long an answer holds. */
export function spanWords(span: string): string {
  return span === "turn" ? "for this turn" : span === "session" ? "for this session" : "for good";
}

/** Why a change is apart: the values that are masked in it. Nothing for one that is left out for another reason. */
export function whyApart(masked: string[] | undefined): string {
  if (masked === undefined || masked.length === 0) return "";
  const names = masked.map((name) => oneLine(name, 60)).join(", ");
  return `It isn’t applied with the others: ${masked.length === 1 ? "the value" : "values"} of ${names} ${masked.length === 1 ? "is" : "are"} in it, and masked here.`;
}

/** Whether the page can name a change that is apart: its name is not masked itself. */
export function isNamed(path: string, masked: string[] | undefined): boolean {
  return !(masked ?? []).some((name) => path.includes(`[secret:${name}]`));
}

/** The words of a button that applies everything but what is left out. */
export function applying(words: string, leftOut: number): string {
  return leftOut === 0 ? words : `${words}, leaving out ${leftOut}`;
}

/** A finding in words. */
export function deed(one: Capability): string {
  const [known, computed] = DEEDS[one.name] ?? [oneLine(one.name), oneLine(one.name)];
  const words = one.argument === "" ? computed : `${known} ${oneLine(one.argument, 200)}`;
  const reason = one.reason === undefined || one.reason === "" ? "" : ` (${oneLine(one.reason, 200)})`;
  const sources = (one.sources ?? []).map((source) => `; ${oneLine(source, 200)}`).join("");
  return words + reason + sources;
}

/** Findings that differ only in their line as one, the gravest first. */
export function merged(all: Capability[]): { words: string; severity: Risk; lines: number[] }[] {
  const order: Risk[] = ["high", "unknown", "medium", "low"];
  const found = new Map<string, { words: string; severity: Risk; lines: number[] }>();
  for (const one of all) {
    const words = deed(one);
    const known = found.get(words);
    if (known === undefined) found.set(words, { words, severity: one.severity, lines: [one.line] });
    else if (!known.lines.includes(one.line)) known.lines.push(one.line);
  }
  return [...found.values()].sort((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity));
}

/** The question in a few words, for lists and announcements. */
export function ask(question: Question | InboxQuestion): string {
  switch (question.about) {
    case "code": return `Run ${languageName(question.language ?? "code")}?`;
    case "input": return oneLine(question.prompt ?? "", 80) || "The code asks for a line of input.";
    case "host": return `Let the code reach ${oneLine(question.host ?? "", 80)}:${question.port ?? ""}?`;
    case "packages": return `${question.change === "remove" ? "Remove" : "Install"} ${packageNames(question)}?`;
    case "replay": return `Run ${count(question.cells?.length ?? 0, "earlier cell")} again?`;
    case "changes": return `Apply ${count(question.files?.length ?? 0, "changed file")}?`;
    default: return "A question waits.";
  }
}

/** Every package that would come or go with its version, or the names alone before the index was asked. */
export function packageLines(question: Question): string[] {
  if (question.list === undefined) return (question.packages ?? []).map(String);
  const comes = question.list.comes.map((one) =>
    `${one.name} ${one.version}${one.required_by === undefined ? "" : ` (for ${one.required_by})`}${one.replaces === undefined ? "" : ` (in place of ${one.replaces})`}`);
  return [...comes, ...(question.list.goes ?? []).map((one) => `${one.name} ${one.version} goes`)];
}

export function packageNames(question: Question): string {
  const names = (question.packages ?? []).map((name) => oneLine(String(name), 60));
  return names.length <= 4 ? names.join(", ") : `${names.slice(0, 4).join(", ")} and ${names.length - 4} more`;
}

const NAMES: { [name: string]: string } = {
  python: "Python", javascript: "JavaScript", typescript: "TypeScript", shell: "shell code", bash: "shell code",
  sql: "SQL", r: "R", ruby: "Ruby", perl: "Perl", lua: "Lua",
};

export function languageName(name: string): string {
  return NAMES[name] ?? oneLine(name, 40);
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** What is special about a changed file. */
export function fileDetails(file: FileChange): string[] {
  const found: string[] = [];
  if (file.runs_later !== undefined) found.push(oneLine(file.runs_later, 100));
  if (file.executable === true && file.mode === undefined) found.push("executable");
  if (file.mode !== undefined) found.push(`mode ${[file.mode.from, file.mode.to].filter(Boolean).join(" → ")}`);
  if (/[2367]$/.test(file.mode?.to ?? "")) found.push("writable by everybody");
  if (file.target !== undefined) found.push(`link to ${[file.target.from, file.target.to].filter(Boolean).map((to) => oneLine(to as string)).join(" → ")}`);
  if (file.holds !== undefined) found.push(oneLine(file.holds, 60));
  if (file.bytes !== undefined) found.push(size(file.bytes));
  return found;
}

export function size(bytes: number): string {
  if (bytes < 1000) return count(bytes, "byte");
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** Why a question is put. */
export function reason(rule: string): string {
  return rule === "default: ask" ? "None of your rules covers it." : rule;
}

/** The yeses that a question has and lacks, in words. */
export function approvals(quorum: Quorum, approved: Person[]): string {
  const names = approved.map((one) => person(one.name)).join(", ");
  const count = `${approved.length} of ${quorum.answers} ${quorum.answers === 1 ? "approval" : "approvals"}`;
  return names === "" ? `${count} so far` : `${count}: ${names}`;
}

/** Why a yes of this person would not count, if it would not. */
export function whyNot(quorum: Quorum | undefined, approved: Person[], you: string): string {
  if (quorum === undefined || you === "") return "";
  if (quorum.not_author && quorum.authors.some((one) => one.id === you)) {
    return "You wrote or prompted this, so others approve it.";
  }
  if (approved.some((one) => one.id === you)) return "You have approved it. It waits for others.";
  return "";
}

/** How a question was closed, in words. */
export function closed(why: string, by: string | undefined): string {
  const who = by === undefined || by === "" ? "" : ` by ${person(by)}`;
  switch (why) {
    case "answered": return `Answered${who}.`;
    case "interrupted": return `Closed by an interrupt${who}.`;
    case "timed_out": return "Closed because the time was up.";
    case "ended": return "Closed with the session.";
    default: return `Closed${who}.`;
  }
}

/** The last part of a folder's path. */
export function lastPart(path: string | null): string {
  const parts = (path ?? "").split("/").filter((part) => part !== "");
  return oneLine(parts[parts.length - 1] ?? "/");
}

/** When something was, in a few words. */
export function when(time: string, now: number): string {
  const then = Date.parse(time);
  if (Number.isNaN(then)) return "";
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / 1440)} d`;
  return new Date(then).toISOString().slice(0, 10);
}
