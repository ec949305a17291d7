//! The switch between light and dark.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Icon } from "./text";

const theme = signal(document.documentElement.dataset["theme"] ?? "");

export function ThemeButton(): JSX.Element {
  const dark = theme.value === "" ? matchMedia("(prefers-color-scheme: dark)").matches : theme.value === "dark";
  return (
    <button type="button" class="icon-button" data-act="theme" aria-label={dark ? "Light colours" : "Dark colours"} onClick={() => {
      const next = dark ? "light" : "dark";
      document.documentElement.dataset["theme"] = next;
      theme.value = next;
      try {
        localStorage.setItem("interpreter.theme", next);
      } catch {
        // The choice then lasts as long as this tab.
      }
    }}><Icon name={dark ? "sun" : "moon"} /></button>
  );
}
