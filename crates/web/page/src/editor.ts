//! CodeMirror in a shadow root: there it brings its styles as sheets, which need no inline style.
//!
//! Fetched only when somebody edits. Characters that cannot be seen are shown by their number.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface Editor {
  focus(): void;
  close(): void;
}

const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]/gu;

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.self], color: "var(--code-word)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-text)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-remark)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--code-name)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--code)", fontSize: "0.8125rem", maxHeight: "60vh" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.25rem" },
  ".cm-content": { caretColor: "var(--text)", padding: "0.5rem 0" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--muted)", border: "none", paddingLeft: "0.25rem" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--selection)" },
  ".cm-specialChar": { color: "var(--spelled)", background: "var(--spelled-back)", borderRadius: "3px", padding: "0 2px" },
});

function syntax(language: string): Extension {
  if (language === "python") return python();
  if (language === "javascript" || language === "typescript") return javascript({ typescript: language === "typescript" });
  if (["shell", "bash", "zsh", "sh", "fish", "dash"].includes(language)) return StreamLanguage.define(shell);
  return [];
}

export function openEditor(place: HTMLElement, code: string, language: string, changed: (code: string) => void): Editor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: code,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        highlightSpecialChars({
          specialChars: INVISIBLE,
          render: (number) => {
            const span = document.createElement("span");
            span.className = "cm-specialChar";
            span.textContent = `\\u{${number.toString(16)}}`;
            return span;
          },
        }),
        bracketMatching(),
        indentOnInput(),
        syntax(language),
        syntaxHighlighting(colours),
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Code to run", spellcheck: "false" }),
        // Tab indents; Escape and then Tab leaves, which the card's own Escape must not swallow.
        keymap.of([{ key: "Mod-Enter", run: () => true, preventDefault: false }, ...defaultKeymap.filter((one) => one.key !== "Mod-Enter"), ...historyKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  return { focus: () => view.focus(), close: () => view.destroy() };
}
