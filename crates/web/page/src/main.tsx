//! The page's beginning: lets the person in, keeps the address and the connection, draws the rest.

import { effect } from "@preact/signals";
import { render } from "preact";
import { login, type LoginProblem, storedKey, takeCode } from "./login";
import { begin, forget, look, openCount, standing, wake } from "./store";
import { place, placeOf } from "./place";
import { App } from "./views/app";
import { Welcome } from "./views/welcome";

const root = document.getElementById("app") as HTMLElement;
let isIn = false;

/** The address says which session is looked at. */
function follow(): void {
  // A link with a new code may be pasted into an open tab.
  const code = takeCode();
  if (code !== null) {
    void enter(code);
    return;
  }
  const { at, session } = placeOf(location.hash);
  place.value = at;
  look(session);
}

function letIn(key: string): void {
  begin(key);
  if (!isIn) render(<App />, root);
  isIn = true;
  root.removeAttribute("aria-busy");
  follow();
}

function keepOut(problem: LoginProblem | null, message = ""): void {
  isIn = false;
  forget();
  root.removeAttribute("aria-busy");
  render(<Welcome problem={problem} message={message} letIn={letIn} />, root);
}

async function enter(code: string): Promise<void> {
  const result = await login({ code });
  if ("key" in result) return letIn(result.key);
  const key = storedKey();
  if (key !== null && result.problem !== "unreachable") letIn(key);
  else keepOut(result.problem, result.message);
}

// A file that is dropped beside its place must not take the place of the page.
for (const kind of ["dragover", "drop"]) {
  addEventListener(kind, (event) => {
    if (!event.defaultPrevented) event.preventDefault();
  });
}
addEventListener("hashchange", follow);
addEventListener("online", wake);
addEventListener("pageshow", wake);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) wake();
});

effect(() => {
  const count = openCount.value;
  document.title = `${count > 0 ? `(${count}) ` : ""}Interpreter`;
});

effect(() => {
  const now = standing.value;
  if (!isIn) return;
  if (now === "login") keepOut("used");
  if (now === "left") keepOut(null);
});

const code = takeCode();
const key = storedKey();
if (code !== null) void enter(code);
else if (key !== null) letIn(key);
else keepOut(null);
