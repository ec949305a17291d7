//! The text that a program printed: coloured, folded when it is long, with rows made as they are seen.

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Drawer, type Span } from "../ansi";
import { count } from "../words";

/** More lines than this are folded. */
const FOLD = 30;
const HEAD = 10;
const TAIL = 12;
/** More rows than this are made as they are seen. */
const ROWS = 400;
const ROW = 20;

function Row({ spans }: { spans: Span[] }): JSX.Element {
  return <>{spans.map((span, at) => (span.ink === "" ? span.text : <span key={at} class={span.ink}>{span.text}</span>))}{"\n"}</>;
}

/** Text of one stream. */
export function TextOutput({ text, stream, running }: { text: string; stream: string; running: boolean }): JSX.Element {
  const kept = useRef<{ drawer: Drawer; fed: string } | null>(null);
  const [open, setOpen] = useState(false);
  // A text that does not go on from the one before is drawn afresh.
  if (kept.current === null || !text.startsWith(kept.current.fed.slice(0, 64)) || text.length < kept.current.fed.length) {
    kept.current = { drawer: new Drawer(), fed: "" };
  }
  const { drawer } = kept.current;
  drawer.follow(text);
  kept.current.fed = text;
  const label = stream === "stderr" ? "Errors and warnings" : "Output";
  const total = drawer.count;
  if (total <= FOLD) {
    return <pre class={`output ${stream}`} tabIndex={0} role="group" aria-label={label}>{drawer.lines().map((spans, at) => <Row key={at} spans={spans} />)}</pre>;
  }
  if (!open) {
    const left = total - HEAD - TAIL;
    return (
      <div class="folded">
        <pre class={`output ${stream}`} tabIndex={0} role="group" aria-label={`${label}, first lines`}>{drawer.slice(0, HEAD).map((spans, at) => <Row key={at} spans={spans} />)}</pre>
        <button type="button" class="unfold" onClick={() => setOpen(true)}>{count(left, "more line")}</button>
        <pre class={`output ${stream}`} tabIndex={0} role="group" aria-label={`${label}, last lines`}>{drawer.slice(total - TAIL, total).map((spans, at) => <Row key={at} spans={spans} />)}</pre>
      </div>
    );
  }
  return (
    <div class="folded">
      {total <= ROWS
        ? <pre class={`output ${stream} tall`} tabIndex={0} role="group" aria-label={label}>{drawer.lines().map((spans, at) => <Row key={at} spans={spans} />)}</pre>
        : <Rows drawer={drawer} total={total} stream={stream} label={label} running={running} />}
      <button type="button" class="unfold" onClick={() => setOpen(false)}>Fold {count(total, "line")}</button>
    </div>
  );
}

/** Many rows, of which only those in sight are elements. */
function Rows({ drawer, total, stream, label, running }: { drawer: Drawer; total: number; stream: string; label: string; running: boolean }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(480);
  useLayoutEffect(() => {
    if (box.current !== null) setHeight(box.current.clientHeight);
  }, []);
  const first = Math.max(0, Math.floor(top / ROW) - 20);
  const last = Math.min(total, Math.ceil((top + height) / ROW) + 20);
  return (
    <div ref={box} class={`output rows ${stream}`} tabIndex={0} role="group" aria-label={`${label}, ${count(total, "line")}${running ? " so far" : ""}`}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <div class="rows-all" style={{ height: `${total * ROW}px` }}>
        <pre class="rows-seen" style={{ transform: `translateY(${first * ROW}px)` }}>
          {drawer.slice(first, last).map((spans, at) => <div key={first + at} class="row"><Row spans={spans} /></div>)}
        </pre>
      </div>
    </div>
  );
}
