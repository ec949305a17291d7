//! What every view of the server shares: one reply, asked for when there is a connection, and the
//! words while it is not there.

import type { JSX } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { RequestFailed } from "../connection";
import { request, standing } from "../store";
import type { Failure } from "../wire";
import { Foreign } from "./text";

export interface Looked {
  ok: { [field: string]: unknown } | null;
  failure: Failure | null;
  busy: boolean;
  again(fields?: { [field: string]: unknown }): void;
}

/** Looks at something, at once or when it is wanted. The last wish counts. */
export function useLooked(at: string, now: boolean): Looked {
  const [state, setState] = useState<Omit<Looked, "again">>({ ok: null, failure: null, busy: now });
  const number = useRef(0);
  const again = useCallback((fields: { [field: string]: unknown } = {}) => {
    number.current += 1;
    const mine = number.current;
    setState((before) => ({ ...before, busy: true, failure: null }));
    request("look", { at, ...fields }).then(
      (ok) => {
        if (number.current === mine) setState({ ok, failure: null, busy: false });
      },
      (problem: unknown) => {
        if (number.current === mine) setState((before) => ({ ...before, busy: false, failure: failureOf(problem) }));
      },
    );
  }, [at]);
  const isOpen = standing.value === "open";
  useEffect(() => {
    if (now && isOpen) again();
  }, [now, isOpen, again]);
  useEffect(() => () => {
    number.current += 1;
  }, []);
  return { ...state, again };
}

export function failureOf(problem: unknown): Failure {
  return problem instanceof RequestFailed ? problem.failure : { code: "failed", message: String(problem) };
}

export function Problem({ failure }: { failure: Failure }): JSX.Element {
  const words = failure.code === "not_allowed" ? "You may not see this here: it takes the right “admin”." : failure.message;
  return <p class="problem" role="alert"><Foreign text={words} />{failure.hint !== undefined && <> <Foreign text={failure.hint} /></>}</p>;
}

/** Words of the server, with `code` set apart. */
export function Words({ text }: { text: string }): JSX.Element {
  return <>{text.split("`").map((part, at) => at % 2 === 1 ? <code key={at} class="name"><Foreign text={part} /></code> : <Foreign key={at} text={part} />)}</>;
}
