//! Files that go up, one after the other.
//!
//! The browser reads each from the disk while it sends it: nothing of a file is held here. A session
//! takes one at a time. Nothing is drawn here.

import { signal } from "@preact/signals";
import { currentKey } from "./store";

export interface Upload {
  id: number;
  session: string;
  /** Its path in the work folder. */
  path: string;
  file: File;
  sent: number;
  state: "waiting" | "sending" | "failed";
  problem: string;
}

export const uploads = signal<Upload[]>([]);

/** Files of one drop at most: a folder can be anything. */
const MOST = 1_000;

let next = 1;
let under: { id: number; request: XMLHttpRequest } | null = null;

function change(id: number, fields: Partial<Upload>): void {
  uploads.value = uploads.peek().map((one) => (one.id === id ? { ...one, ...fields } : one));
}

function remove(id: number): void {
  uploads.value = uploads.peek().filter((one) => one.id !== id);
}

/** Sends files to a session, after those that wait already. */
export function send(session: string, files: { path: string; file: File }[]): void {
  const added = files.slice(0, MOST).map(({ path, file }): Upload => {
    const upload: Upload = { id: next, session, path, file, sent: 0, state: "waiting", problem: "" };
    next += 1;
    return upload;
  });
  uploads.value = [...uploads.peek(), ...added];
  begin();
}

/** Stops an upload, or puts away one that failed. Nothing of it stays at the server. */
export function cancel(id: number): void {
  if (under?.id === id) under.request.abort();
  else remove(id);
}

export function again(id: number): void {
  change(id, { state: "waiting", sent: 0, problem: "" });
  begin();
}

/** The route of a file, every part of its path escaped. */
export function route(session: string, path: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function begin(): void {
  if (under !== null) return;
  const first = uploads.peek().find((one) => one.state === "waiting");
  if (first === undefined) return;
  const { id, session, path, file } = first;
  const request = new XMLHttpRequest();
  under = { id, request };
  change(id, { state: "sending" });
  const done = (problem: string | null) => {
    under = null;
    if (problem === null) remove(id);
    else change(id, { state: "failed", problem });
    begin();
  };
  let drawn = 0;
  request.upload.onprogress = ({ loaded, timeStamp }) => {
    if (timeStamp - drawn < 100) return;
    drawn = timeStamp;
    change(id, { sent: loaded });
  };
  request.onload = () => done(request.status === 200 ? null : failure(request.responseText));
  request.onerror = () => done("The connection ended before the file was there. It may be too large, or not a file.");
  request.onabort = () => done(null);
  request.open("PUT", route(session, path));
  request.setRequestHeader("Authorization", `Key ${currentKey()}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
}

function failure(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown; hint?: unknown } };
    const words = [error?.message, error?.hint].filter((one): one is string => typeof one === "string");
    if (words.length > 0) return words.join(" – ");
  } catch {
    // Then there are no words for it.
  }
  return "The server did not take the file.";
}

/** The files of a drop, those in folders too. */
export async function dropped(data: DataTransfer): Promise<{ path: string; file: File }[]> {
  // The list is empty as soon as the event is over, so its entries are taken first.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const found: { path: string; file: File }[] = [];
  // Files that another page made have no entry.
  if (entries.length === 0) return [...data.files].map((file) => ({ path: file.name, file }));
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    if (found.length >= MOST) return;
    const path = entry.fullPath.replace(/^\/+/, "");
    if (entry.isFile) {
      found.push({ path, file: await new Promise<File>((good, bad) => (entry as FileSystemFileEntry).file(good, bad)) });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((good, bad) => reader.readEntries(good, bad));
      if (some.length === 0) return;
      for (const one of some) await walk(one);
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}
