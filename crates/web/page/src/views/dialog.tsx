//! What can be done about a session beside its conversation: a dialog over the page, and its requests.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Aside, aside } from "../place";
import { request } from "../store";
import type { Failure } from "../wire";
import { failureOf, Problem } from "./looked";
import { Icon } from "./text";

export interface Grants {
  /** The newest answer, once there is one. */
  all: { [field: string]: unknown } | null;
  failure: Failure | null;
  busy: boolean;
  /** Asks for a change, and whether it was made. */
  grant(fields: { [field: string]: unknown }): Promise<boolean>;
}

/** Everything that is granted in a session, from the moment that it is shown. */
export function useGrants(session: string): Grants {
  const [all, setAll] = useState<Grants["all"]>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const grant = async (fields: { [field: string]: unknown }): Promise<boolean> => {
    setBusy(true);
    try {
      setAll(await request("grant", { session, ...fields }));
      setFailure(null);
      return true;
    } catch (problem) {
      setFailure(failureOf(problem));
      return false;
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => void grant({ list: true }), []);
  return { all, failure, busy, grant };
}

export function Dialog({ name, title, failure, children }: { name: Aside; title: string; failure: Failure | null; children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} class="aside" data-aside={name} aria-labelledby="aside-title" onClose={() => aside.value = null}>
      <header>
        <h2 id="aside-title">{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => box.current?.close()}><Icon name="close" /></button>
      </header>
      {children}
      {failure !== null && <Problem failure={failure} />}
    </dialog>
  );
}
