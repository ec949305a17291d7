//! The head of a place that is no session.

import type { ComponentChildren, JSX } from "preact";
import { menuOpen } from "../place";
import { Icon } from "./text";

export function Top({ title, about, children }: { title: ComponentChildren; about?: ComponentChildren; children?: ComponentChildren }): JSX.Element {
  return (
    <header class="head">
      <button type="button" class="icon-button only-narrow" aria-label="Sessions" onClick={() => menuOpen.value = true}><Icon name="menu" /></button>
      <div class="head-words"><h1>{title}</h1>{about !== undefined && <p class="head-about">{about}</p>}</div>
      {children !== undefined && <div class="head-acts">{children}</div>}
    </header>
  );
}
