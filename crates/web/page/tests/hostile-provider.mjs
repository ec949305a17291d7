// A login provider that can be told to lie, and plain requests in place of a browser.

import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { createServer, request } from "node:http";

const base64 = (data) => Buffer.from(data).toString("base64url");

/** Starts a server at a free port. */
export async function listen(answer) {
  const server = createServer(answer);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

/** One GET or POST, with exactly these headers; follows nothing. */
export function plain(url, { method = "GET", headers = {}, body = "" } = {}) {
  return new Promise((done, failed) => {
    const more = method === "POST" ? { "content-type": "application/json", "content-length": Buffer.byteLength(body) } : {};
    const sent = request(url, { method, agent: false, headers: { ...more, ...headers } }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (data) => { text += data; });
      reply.on("end", () => done({ status: reply.statusCode, headers: reply.headers, text }));
    });
    sent.on("error", failed);
    sent.end(body);
  });
}

/** The cookies that an answer sets, as a browser sends them back. */
export const cookieOf = (reply) => (reply.headers["set-cookie"] ?? []).map((one) => one.split(";")[0]).join("; ");

export class HostileProvider {
  static async start() {
    const hostile = new HostileProvider();
    hostile.rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    hostile.other = generateKeyPairSync("rsa", { modulusLength: 2048 });
    hostile.asked = { descriptions: 0, keys: 0, token: 0, canary: 0 };
    hostile.canary = await listen((_, reply) => {
      hostile.asked.canary += 1;
      reply.end("{}");
    });
    const { server, origin } = await listen((asked, reply) => hostile.answer(asked, reply));
    Object.assign(hostile, { server, issuer: origin, description: {}, token: (nonce) => hostile.right(nonce) });
    return hostile;
  }

  close() {
    this.server.close();
    this.canary.server.close();
  }

  answer(asked, reply) {
    const json = (value) => reply.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (asked.url === "/.well-known/openid-configuration") {
      this.asked.descriptions += 1;
      const at = (path) => `${this.issuer}${path}`;
      return json({ issuer: this.issuer, authorization_endpoint: at("/auth"), token_endpoint: at("/token"), jwks_uri: at("/keys"), ...this.description });
    }
    if (asked.url === "/keys") {
      this.asked.keys += 1;
      return json({ keys: [{ ...this.rsa.publicKey.export({ format: "jwk" }), kid: "1", use: "sig" }] });
    }
    this.asked.token += 1;
    const token = this.token(this.nonce);
    if (typeof token === "function") return token(reply);
    return json({ access_token: "x", token_type: "Bearer", id_token: token });
  }

  /** The claims of a right token, with changes. */
  claims(nonce, changes = {}) {
    const now = Math.floor(Date.now() / 1000);
    return { iss: this.issuer, sub: "anna-7", aud: "interpreter", exp: now + 300, iat: now, nonce, ...changes };
  }

  /** A token by the real key, unless told otherwise. */
  right(nonce, changes = {}, { header = {}, key = this.rsa.privateKey, mac } = {}) {
    const message = `${base64(JSON.stringify({ alg: "RS256", kid: "1", ...header }))}.${base64(JSON.stringify(this.claims(nonce, changes)))}`;
    const made = mac === undefined ? key === null ? "" : sign("sha256", Buffer.from(message), key) : createHmac("sha256", mac).update(message).digest();
    return `${message}.${base64(made)}`;
  }

  /** A whole login by plain requests: what came back from the server at the end. */
  async login(origin, { returned = (query) => query } = {}) {
    const begun = await plain(`${origin}/login/oidc`);
    if (begun.status !== 303) return begun;
    const sent = new URL(begun.headers.location).searchParams;
    this.nonce = sent.get("nonce");
    const query = returned(new URLSearchParams({ code: "c-canary-code", state: sent.get("state") }));
    const cookie = cookieOf(begun);
    return { ...await plain(`${origin}/login/oidc/callback?${query}`, { headers: { cookie } }), cookie, sent };
  }
}
