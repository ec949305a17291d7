//! Another model for the rest of a session, which keeps its conversation.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../model";
import { aside } from "../place";
import { request } from "../store";
import type { Failure, Provider, Weights } from "../wire";
import { Dialog } from "./dialog";
import { failureOf, useLooked } from "./looked";
import { Name } from "./text";

/** Models that are offered; any other can be typed. */
const OFFERED = 200;

export function SwitchButton(): JSX.Element {
  return <button type="button" data-act="switch" onClick={() => aside.value = "model"}>Talk to another model…</button>;
}

export function Switching({ session }: { session: Session }): JSX.Element | null {
  return aside.value === "model" ? <Choice key={session.id} session={session} /> : null;
}

function Choice({ session }: { session: Session }): JSX.Element {
  const looked = useLooked("models", true);
  const [name, setName] = useState("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const places = ((looked.ok?.["models"] ?? []) as Provider[]).filter((one) => one.ready);
  const embedded = (looked.ok?.["embedded"] as { models: Weights[] } | undefined)?.models ?? [];
  const known = [
    ...embedded.filter((one) => one.here).map((one) => `embedded/${one.name}`),
    ...places.flatMap((one) => [...new Set(one.models)].map((model) => `${one.name}/${model}`)),
  ].slice(0, OFFERED);
  const send = async () => {
    setBusy(true);
    try {
      await request("prompt", { session: session.id, model: name.trim() });
      aside.value = null;
    } catch (problem) {
      setFailure(failureOf(problem));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog name="model" title="Talk to another model" failure={failure}>
      <form onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "" && !busy) void send();
      }}>
        <p class="muted">Now: <Name text={session.model} most={80} />. The other model gets the whole conversation.</p>
        <label class="field">
          <span>Model</span>
          <input class="mono" type="text" list="known-models" value={name} autocomplete="off" spellcheck={false} data-field="model" onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <datalist id="known-models">{known.map((one) => <option key={one} value={one} />)}</datalist>
        <div class="acts"><button type="submit" class="primary" data-act="switch-model" disabled={busy || name.trim() === ""}>Switch</button></div>
      </form>
    </Dialog>
  );
}
