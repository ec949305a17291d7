//! A small menu behind three dots, which closes when something was chosen or the focus leaves.

import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";

export function Menu({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current !== null) menu.current.open = false;
  };
  return (
    <details class="menu" ref={menu}
      onFocusOut={(event) => {
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) close();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        close();
        menu.current?.querySelector("summary")?.focus();
      }}>
      <summary aria-label={label}>⋯</summary>
      <div class="menu-body" onClick={close}>{children}</div>
    </details>
  );
}
