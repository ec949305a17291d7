//! Markdown as elements. Links open only after a yes that shows their address; nothing is loaded.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Block, type Inline, parse, parts } from "../markdown";
import { oneLine } from "../foreign";
import { memo } from "./memo";
import { CodeLines } from "./code";
import { Foreign, Name } from "./text";

function Inlines({ all }: { all: Inline[] }): JSX.Element {
  return <>{all.map((one, at) => <OneInline key={at} one={one} />)}</>;
}

function OneInline({ one }: { one: Inline }): JSX.Element {
  switch (one.type) {
    case "text": return <Foreign text={one.text} />;
    case "code": return <code><Foreign text={one.text} /></code>;
    case "break": return <br />;
    case "strong": return <strong><Inlines all={one.children} /></strong>;
    case "emphasis": return <em><Inlines all={one.children} /></em>;
    case "deleted": return <del><Inlines all={one.children} /></del>;
    case "picture": return <span class="no-picture">Picture, not loaded{one.host === "" ? "" : ` (${oneLine(one.host, 80)})`}: <Name text={one.alt} most={120} /></span>;
    case "link": return <Link one={one} />;
  }
}

function Link({ one }: { one: Extract<Inline, { type: "link" }> }): JSX.Element {
  const [asks, setAsks] = useState(false);
  if (one.host === "") return <span class="dead-link"><Inlines all={one.children} /> (<Name text={one.address} most={200} />)</span>;
  return (
    <span class="link">
      <button type="button" class="link-words" aria-expanded={asks} onClick={() => setAsks(!asks)}>
        <Inlines all={one.children} />
      </button>{" "}
      <span class="link-host">(<Name text={one.host} most={80} />)</span>
      {asks && (
        <span class="link-ask">
          Leave for <Name text={one.address} most={400} />?{" "}
          <a href={one.address} target="_blank" rel="noreferrer noopener" onClick={() => setAsks(false)}>Open in a new tab</a>{" "}
          <button type="button" class="quiet" onClick={() => setAsks(false)}>Stay</button>
        </span>
      )}
    </span>
  );
}

function OneBlock({ one, hidden }: { one: Block; hidden: readonly string[] }): JSX.Element | null {
  switch (one.type) {
    case "paragraph": return <p><Inlines all={one.children} /></p>;
    case "heading": {
      const Tag = `h${one.depth}` as "h3";
      return <Tag><Inlines all={one.children} /></Tag>;
    }
    case "code":
      return hidden.includes(one.text.trim()) ? null : <CodeLines code={one.text} language={one.language} label={`Code${one.language === "" ? "" : ` in ${oneLine(one.language, 40)}`}`} />;
    case "quote": return <blockquote><Blocks all={one.children} hidden={hidden} /></blockquote>;
    case "list": {
      const items = one.items.map((item, at) => <li key={at}>{item.length === 1 && item[0]?.type === "paragraph" ? <Inlines all={item[0].children} /> : <Blocks all={item} hidden={hidden} />}</li>);
      return one.ordered ? <ol start={one.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table": {
      const [head, ...body] = one.rows;
      const align = (at: number) => (one.align[at] ? `align-${one.align[at]}` : "");
      return (
        <div class="table" role="group" tabIndex={0} aria-label="Table">
          <table>
            <thead><tr>{(head ?? []).map((cell, at) => <th key={at} scope="col" class={align(at)}><Inlines all={cell} /></th>)}</tr></thead>
            <tbody>{body.map((row, index) => <tr key={index}>{row.map((cell, at) => <td key={at} class={align(at)}><Inlines all={cell} /></td>)}</tr>)}</tbody>
          </table>
        </div>
      );
    }
    case "rule": return <hr />;
  }
}

function Blocks({ all, hidden }: { all: Block[]; hidden: readonly string[] }): JSX.Element {
  return <>{all.map((one, at) => <OneBlock key={at} one={one} hidden={hidden} />)}</>;
}

const NOTHING: readonly string[] = [];

/** A whole text. Code blocks that are shown elsewhere are left out. */
export const Prose = memo(({ text, hidden }: { text: string; hidden?: readonly string[] }): JSX.Element => {
  const all = useMemo(() => parse(text), [text]);
  const trimmed = (hidden ?? NOTHING).map((code) => code.trim());
  return <div class="prose"><Blocks all={all} hidden={trimmed} /></div>;
}, (one, other) => one.text === other.text && (one.hidden?.length ?? 0) === (other.hidden?.length ?? 0));

/** A text that grows: only its last part is parsed again. */
export function GrowingProse({ text }: { text: string }): JSX.Element {
  return <>{parts(text).map((part, at) => <Prose key={at} text={part} />)}</>;
}
