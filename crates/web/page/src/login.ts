//! Who this tab is: the one-time code of the address, and the key that it buys.
//!
//! The code stands in the fragment, works once and is removed from the address before anything
//! else happens. The key stays in the storage of this origin; the cookie alone opens nothing, and
//! neither does the key.

const KEY = "interpreter.key";

/** The one-time code of the address, which no longer has it afterwards. */
export function takeCode(): string | null {
  const fragment = location.hash.slice(1);
  if (fragment === "" || fragment.startsWith("/")) return null;
  history.replaceState(null, "", "/#/");
  return fragment;
}

export function storedKey(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function forgetKey(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Without storage there is nothing to forget.
  }
}

/** Why somebody could not be let in. */
export type LoginProblem = "used" | "unreachable" | "refused";

/** How people log in here, beside the link. */
export interface LoginWays {
  hasPasswords: boolean;
  /** The name of a login provider, if there is one. */
  provider: string | null;
}

export async function loginWays(): Promise<LoginWays> {
  try {
    const reply = await fetch("/v1/login", { signal: AbortSignal.timeout(10_000) });
    const body = (await reply.json()) as { ways?: unknown; provider?: unknown };
    const has = (way: string): boolean => Array.isArray(body.ways) && body.ways.includes(way);
    const provider = has("provider") && typeof body.provider === "string" ? body.provider : null;
    return { hasPasswords: has("password"), provider };
  } catch {
    return { hasPasswords: false, provider: null };
  }
}

/** Buys a key with a code, or with a name and a password. */
export async function login(
  shown: { code: string } | { name: string; password: string },
): Promise<{ key: string } | { problem: LoginProblem; message: string }> {
  let reply: Response;
  try {
    reply = await fetch("/v1/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(shown),
      credentials: "same-origin",
      signal: AbortSignal.timeout(10_000),
    });
  } catch {
    return { problem: "unreachable", message: "" };
  }
  const body = (await reply.json().catch(() => ({}))) as { key?: unknown; error?: { message?: unknown } };
  if (!reply.ok || typeof body.key !== "string") {
    const message = typeof body.error?.message === "string" ? body.error.message : "";
    return { problem: reply.status === 401 || reply.status === 403 ? "used" : "refused", message };
  }
  try {
    localStorage.setItem(KEY, body.key);
  } catch {
    // The key then lasts as long as this tab.
  }
  return { key: body.key };
}

/** Ends this login, here and at the server. */
export async function logout(key: string): Promise<void> {
  forgetKey();
  try {
    await fetch("/v1/logout", {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Key ${key}` },
      body: "{}",
      keepalive: true,
    });
  } catch {
    // The server is gone, and its logins with it.
  }
}

const encoder = new TextEncoder();

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The SHA-256 of bytes or of a text, as hexadecimal digits. */
export async function sha256(data: string | Uint8Array): Promise<string> {
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  return hex(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
}

/** The proof that a frame or a picture carries in its address in place of the key. */
export async function proof(key: string, path: string): Promise<string> {
  const secret = await crypto.subtle.importKey("raw", encoder.encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", secret, encoder.encode(path)));
}

/** The subprotocols of the WebSocket: the key cannot be a header there. */
export function protocols(key: string): string[] {
  const bytes = encoder.encode(key);
  const text = btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return ["interpreter.v1", `key.${text}`];
}
