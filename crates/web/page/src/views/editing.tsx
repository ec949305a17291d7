//! Code to edit: CodeMirror, loaded on first use; a plain field until then.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Editor } from "../editor";

export function Editing({ code, language, onChange }: { code: string; language: string; onChange: (code: string) => void }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const [ready, setReady] = useState(false);
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
    let editor: Editor | null = null;
    let isWanted = true;
    void import("../editor").then(({ openEditor }) => {
      if (!isWanted || place.current === null) return;
      editor = openEditor(place.current, code, language, (text) => change.current(text));
      setReady(true);
      editor.focus();
    }).catch(() => undefined);
    return () => {
      isWanted = false;
      editor?.close();
    };
  }, []);
  return (
    <div class="editing" data-editor="">
      <div ref={place} class="editor" data-ready={ready ? "" : undefined} />
      {!ready && <textarea class="editor-plain mono" aria-label="Code" rows={Math.min(20, code.split("\n").length + 1)} value={code} spellcheck={false} onInput={(event) => onChange(event.currentTarget.value)} />}
    </div>
  );
}
