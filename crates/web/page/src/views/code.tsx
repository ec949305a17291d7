//! Code to read: every line with its number, and findings beside the lines they are about.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { type Token, tokenLines } from "../highlight";
import type { Capability } from "../wire";
import { deed } from "../words";
import { Foreign } from "./text";

function Line({ tokens }: { tokens: Token[] }): JSX.Element {
  return (
    <>
      {tokens.map((token, at) =>
        token.kind === "" ? <Foreign key={at} text={token.text} /> : <span key={at} class={`token-${token.kind}`}><Foreign text={token.text} /></span>)}
    </>
  );
}

/** Whole code. A return alone would hide what stands before it, so it ends the line. */
export function CodeLines({ code, language, capabilities, at, label }: {
  code: string;
  language: string;
  capabilities?: Capability[];
  /** The line that runs now. */
  at?: number;
  label?: string;
}): JSX.Element {
  const lines = useMemo(() => tokenLines(code.replace(/\r\n?/g, "\n").replace(/\n$/, ""), language), [code, language]);
  const findings = useMemo(() => {
    const byLine = new Map<number, Capability[]>();
    for (const one of capabilities ?? []) {
      const known = byLine.get(one.line);
      if (known === undefined) byLine.set(one.line, [one]);
      else known.push(one);
    }
    return byLine;
  }, [capabilities]);
  return (
    <div class="code" role="group" tabIndex={0} aria-label={label ?? "Code"}>
      <ol class="code-lines">
        {lines.map((tokens, index) => {
          const number = index + 1;
          const here = findings.get(number) ?? [];
          const worst = worstOf(here);
          return (
            <li key={index} class={`code-line ${worst === "" ? "" : `found found-${worst}`} ${at === number ? "at" : ""}`}>
              <span class="code-number" aria-hidden="true">{number}</span>
              <code class="code-text"><Line tokens={tokens} />{"\n"}</code>
              {here.length > 0 && (
                <ul class="findings" aria-label={`Line ${number}`}>
                  {here.map((one, place) => (
                    <li key={place} class={`finding finding-${one.severity}`}>
                      <bdi>{deed(one)}</bdi>
                      {one.confidence === "possible" ? " – possibly" : ""}
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function worstOf(all: Capability[]): string {
  for (const risk of ["high", "unknown", "medium", "low"]) {
    if (all.some((one) => one.severity === risk)) return risk;
  }
  return "";
}
