//! The frame of the page: sidebar, the place that the address names, messages.

import type { JSX } from "preact";
import { announcement, current, failures, picture, putAway, standing } from "../store";
import { DoctorView } from "./doctor";
import { Home, Inbox } from "./home";
import { menuOpen, type Place, place } from "../place";
import { ModelsView } from "./models";
import { RecordView } from "./record";
import { RecordsView } from "./records";
import { SessionView, useAnnounced } from "./session";
import { SettingsView } from "./settings";
import { Side } from "./side";
import { Foreign, Icon } from "./text";

function Here({ at }: { at: Place }): JSX.Element {
  switch (at) {
    case "home": return <Home />;
    case "inbox": return <Inbox />;
    case "settings": return <SettingsView />;
    case "doctor": return <DoctorView />;
    case "record": return <RecordView />;
    case "models": return <ModelsView />;
    case "records": return <RecordsView key={current.value} session={current.value ?? ""} />;
    case "session": return <SessionView />;
  }
}

export function App(): JSX.Element {
  const session = picture.value?.session ?? null;
  const said = useAnnounced(session);
  return (
    <div class="app">
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>Skip to the conversation</a>
      <Side />
      {menuOpen.value && <button type="button" class="veil" aria-label="Close the list of sessions" onClick={() => menuOpen.value = false} />}
      <main id="main" class="main" tabIndex={-1}>
        {standing.value === "lost" && <p class="lost" role="status">The connection is lost. Trying again…</p>}
        <Here at={place.value} />
      </main>
      <div class="failures" role="region" aria-label="Messages">
        {failures.value.map(({ id, failure }) => (
          <div key={id} class="failure" role="alert">
            <p><Foreign text={failure.message} />{failure.hint !== undefined && <span class="muted"> <Foreign text={failure.hint} /></span>}</p>
            <button type="button" class="icon-button" aria-label="Put away" onClick={() => putAway(id)}><Icon name="close" /></button>
          </div>
        ))}
      </div>
      <div class="sr" role="status" aria-live="polite">{said}</div>
      <div class="sr" role="alert">{announcement.value}</div>
    </div>
  );
}
