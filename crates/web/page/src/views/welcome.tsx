//! For somebody who is not in: how to get a link, a form where people have passwords, and the way to
//! a login provider where there is one.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { login, type LoginProblem, loginWays, type LoginWays } from "../login";
import { Foreign } from "./text";

interface WelcomeProps {
  problem: LoginProblem | null;
  message: string;
  letIn: (key: string) => void;
}

export function Welcome({ problem, message, letIn }: WelcomeProps): JSX.Element {
  const [{ hasPasswords: isTeam, provider }, setWays] = useState<LoginWays>({ hasPasswords: false, provider: null });
  useEffect(() => {
    void loginWays().then(setWays);
  }, []);
  return (
    <main class="welcome">
      <h1>Interpreter</h1>
      {problem === "used" && !isTeam && <p class="problem" role="alert">This link was used before or is too old. Each link works once, for a minute.</p>}
      {problem === "unreachable" && <p class="problem" role="alert">The server does not answer. Is it still running?</p>}
      {problem === "refused" && <p class="problem" role="alert">The server did not let you in. {message !== "" && <Foreign text={message} />}</p>}
      {provider !== null && <p><a class="chip provider" href="/login/oidc" data-act="provider"><span>Log in with <Foreign text={provider} /></span></a></p>}
      {isTeam ? <LoginForm letIn={letIn} /> : <p>Open the link that <code>interpreter serve</code> prints. For a new one, press Enter where it runs.</p>}
    </main>
  );
}

function LoginForm({ letIn }: { letIn: (key: string) => void }): JSX.Element {
  const [refusal, setRefusal] = useState("");
  const [isBusy, setBusy] = useState(false);
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    const result = await login({ name: String(form.get("name")), password: String(form.get("password")) });
    if ("key" in result) return letIn(result.key);
    setBusy(false);
    setRefusal(result.problem === "unreachable" ? "The server does not answer. Is it still running?" : result.message);
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      {refusal !== "" && <p class="problem" role="alert"><Foreign text={refusal} /></p>}
      <p><label>Name <input name="name" type="text" autocomplete="username" autocapitalize="none" spellcheck={false} required maxLength={40} /></label></p>
      <p><label>Password <input name="password" type="password" autocomplete="current-password" required /></label></p>
      <p><button type="submit" class="primary" disabled={isBusy}>Log in</button></p>
    </form>
  );
}
