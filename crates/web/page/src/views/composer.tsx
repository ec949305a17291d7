//! The place to write: to the model, or code of one's own.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../model";
import { attempt, rows, standing } from "../store";
import { may } from "../who";
import { Icon } from "./text";
import { AttachButton, Uploads } from "./uploads";
import { send as sendFiles } from "../uploads";

const LANGUAGES = [
  ["", "Ask"], ["python", "Run Python"], ["shell", "Run shell"], ["javascript", "Run JavaScript"],
] as const;

/** What was being written, per session, for when the person comes back. */
const drafts = new Map<string, string>();

export function Composer({ session }: { session: Session }): JSX.Element {
  const [text, setText] = useState(drafts.get(session.id) ?? "");
  const [language, setLanguage] = useState("");
  const [sending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    setText(drafts.get(session.id) ?? "");
    if (matchMedia("(pointer: fine)").matches && document.querySelector(".card.open") === null) field.current?.focus();
  }, [session.id]);
  useEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight + 2, innerHeight * 0.4)}px`;
  }, [text]);
  const write = (words: string) => {
    setText(words);
    drafts.set(session.id, words);
  };
  const send = async () => {
    if (text.trim() === "" || sending) return;
    setSending(true);
    const ok = language === ""
      ? await attempt("prompt", { session: session.id, text })
      : await attempt("run", { session: session.id, language, code: text });
    setSending(false);
    if (ok !== null) write("");
    field.current?.focus();
  };
  const asks = language === "";
  const row = rows.value.get(session.id);
  if (!may("prompt", row)) return <div class="over"><span class="muted">You may watch this session.</span></div>;
  const languages = may("answer", row) ? LANGUAGES : LANGUAGES.slice(0, 1);
  return (
    <form class="composer" onSubmit={(event) => {
      event.preventDefault();
      void send();
    }}>
      <Uploads session={session.id} />
      <div class={`composer-box ${asks ? "" : "mono"}`}>
        <label class="sr" for="composer">{asks ? "Message to the model" : "Code to run"}</label>
        <textarea id="composer" ref={field} rows={1} value={text} spellcheck={asks} placeholder={asks ? "Ask for something…" : "Code to run…"}
          onInput={(event) => write(event.currentTarget.value)}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length === 0 || !may("change", row)) return;
            event.preventDefault();
            sendFiles(session.id, files.map((file) => ({ path: file.name, file })));
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.isComposing && !event.shiftKey && (asks || event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              if (!event.repeat) void send();
            }
          }} />
        <div class="composer-keys">
          {may("change", row) && <AttachButton session={session.id} />}
          <select aria-label="What to do with it" value={language} onChange={(event) => setLanguage(event.currentTarget.value)}>
            {languages.map(([value, name]) => <option key={value} value={value}>{name}</option>)}
          </select>
          <span class="muted wide-only hint">{asks ? "Enter sends, Shift Enter starts a line" : "Ctrl Enter runs"}</span>
          <button type="submit" class="primary" data-act="send" disabled={sending || text.trim() === "" || standing.value !== "open"}>
            <Icon name="send" /><span class="sr">{asks ? "Send" : "Run"}</span>
          </button>
        </div>
      </div>
    </form>
  );
}
