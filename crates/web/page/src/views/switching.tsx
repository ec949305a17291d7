//! Another model for the rest of a session, which keeps its conversation.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../model";
import { aside } from "../place";
import { request } from "../store";
import { oneLine } from "../foreign";
import type { Failure, Provider } from "../wire";
import { Dialog } from "./dialog";
import { failureOf, Problem, useLooked } from "./looked";
import { Name } from "./text";

/** Models of one place that are listed. */
const LISTED = 300;

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
  const offered = offers(looked.ok, session.model);
  const send = async () => {
    setBusy(true);
    try {
      await request("prompt", { session: session.id, model: name });
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
        if (name !== "" && !busy) void send();
      }}>
        <p class="muted">Now: <Name text={session.model} most={80} />. The other model gets the whole conversation.</p>
        <label class="field">
          <span>Model</span>
          <select class="mono" value={name} data-field="model" disabled={looked.ok === null} onChange={(event) => setName(event.currentTarget.value)}>
            <option value="">{looked.ok === null ? "Looking for models…" : offered.length === 0 ? "No other model is offered" : "Choose a model"}</option>
            {offered.map(({ place, names }) => (
              <optgroup key={place} label={oneLine(place, 60)}>{names.map((one) => <option key={one} value={one}>{oneLine(one, 100)}</option>)}</optgroup>
            ))}
          </select>
        </label>
        {looked.failure !== null && <Problem failure={looked.failure} />}
        <p class="muted">The server’s settings decide what is on the list. To add a model, make it the <code>model</code> of an endpoint there, or name it in <code>fallback</code>.</p>
        <div class="acts"><button type="submit" class="primary" data-act="switch-model" disabled={busy || name === ""}>Switch</button></div>
      </form>
    </Dialog>
  );
}

/** The models that the server offers: those of its settings first, then what each ready place lists. The one in use is not among them. */
function offers(ok: { [field: string]: unknown } | null, current: string): { place: string; names: string[] }[] {
  const seen = new Set([current]);
  const fresh = (names: string[]) => names.filter((name) => !seen.has(name) && seen.add(name)).slice(0, LISTED);
  const places = ((ok?.["models"] ?? []) as Provider[]).filter((one) => one.ready);
  return [
    { place: "Set up here", names: fresh((ok?.["offered"] ?? []) as string[]) },
    ...places.map((one) => ({ place: one.title, names: fresh(one.models.map((model) => `${one.name}/${model}`)) })),
  ].filter(({ names }) => names.length > 0);
}
