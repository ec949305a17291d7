//! Files up: the button, the place to drop them, and how far each is.

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { tell } from "../store";
import { again, cancel, dropped, send, type Upload, uploads } from "../uploads";
import { size } from "../words";
import { Foreign, Icon, Name } from "./text";

/** The files that go up to a session, above the place to write. */
export function Uploads({ session }: { session: string }): JSX.Element | null {
  const all = uploads.value.filter((one) => one.session === session);
  if (all.length === 0) return null;
  return <ul class="uploads" aria-label="Files on their way">{all.slice(0, 6).map((one) => <li key={one.id}><Row one={one} /></li>)}{all.length > 6 && <li class="muted">and {all.length - 6} more</li>}</ul>;
}

function Row({ one }: { one: Upload }): JSX.Element {
  const isFailed = one.state === "failed";
  return (
    <div class="upload" data-upload={one.state}>
      <span class="upload-name"><Name text={one.path} most={80} /> <span class="muted">{one.state === "sending" ? `${size(one.sent)} of ${size(one.file.size)}` : size(one.file.size)}{one.state === "waiting" ? ", waits" : ""}</span></span>
      {isFailed
        ? <span class="bad upload-problem" role="alert"><Foreign text={one.problem} /></span>
        : <progress max={Math.max(1, one.file.size)} value={one.sent} aria-label={`Sending ${one.path}`} />}
      {isFailed && <button type="button" class="quiet" data-act="upload-again" onClick={() => again(one.id)}>Try again</button>}
      <button type="button" class="icon-button" data-act="upload-cancel" aria-label={isFailed ? "Put away" : "Stop sending"} onClick={() => cancel(one.id)}><Icon name="close" /></button>
    </div>
  );
}

/** Chooses files to send. */
export function AttachButton({ session }: { session: string }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input ref={field} type="file" multiple hidden tabIndex={-1} data-field="files" onChange={(event) => {
        send(session, [...(event.currentTarget.files ?? [])].map((file) => ({ path: file.name, file })));
        event.currentTarget.value = "";
      }} />
      <button type="button" class="icon-button" data-act="attach" aria-label="Send files" title="Send files into the work folder; they are staged" onClick={() => field.current?.click()}><Icon name="clip" /></button>
    </>
  );
}

export interface Dropping {
  isOver: boolean;
  handlers: {
    onDragEnter(event: DragEvent): void;
    onDragOver(event: DragEvent): void;
    onDragLeave(event: DragEvent): void;
    onDrop(event: DragEvent): void;
  };
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;

/** Takes files that are dropped on an element. */
export function useDropping(element: { current: HTMLElement | null }, session: string, isOpen: boolean): Dropping {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent) => {
    if (!isOpen || !hasFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = "copy";
    setOver(true);
  };
  return {
    isOver,
    handlers: {
      onDragEnter: over,
      onDragOver: over,
      onDragLeave: (event) => {
        if (!(event.relatedTarget instanceof Node && element.current?.contains(event.relatedTarget))) setOver(false);
      },
      onDrop: (event) => {
        setOver(false);
        if (!isOpen || !hasFiles(event) || event.dataTransfer === null) return;
        event.preventDefault();
        dropped(event.dataTransfer).then((files) => send(session, files)).catch(() => tell({ code: "failed", message: "The browser could not read what was dropped." }));
      },
    },
  };
}
