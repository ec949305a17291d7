//! The calls of a front end such as Open `WebUI`, made with the libraries that it uses, and how it
//! logs in.

use crate::{
    api::Caller,
    kernels_served::{KernelClient, printed, token},
    scene::{Scene, without},
    serving::Serving,
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// Fetched by `scripts/test`.
const PYTHON: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/kernels/bin/python");

/// A front end as Open `WebUI` is one: logs in by a form, begins a kernel, runs one piece of code in
/// it over a WebSocket, waits for `idle`, and ends the kernel. Or sends its token in the address.
const FRONT_END: &str = r#"
import asyncio, json, sys, uuid
import aiohttp, websockets

class FrontEnd:
    def __init__(self, base, secret, way):
        self.base, self.secret, self.way = base.rstrip("/") + "/", secret, way
        self.params = {"token": secret} if way == "address" else {}

    async def log_in(self, http):
        async with http.get("login") as answer:
            answer.raise_for_status()
            xsrf = answer.cookies["_xsrf"].value
            http.cookie_jar.update_cookies(answer.cookies)
        http.headers.update({"X-XSRFToken": xsrf})
        form = {"_xsrf": xsrf, "password": self.secret}
        async with http.post("login", data=form, allow_redirects=True) as answer:
            answer.raise_for_status()
            http.cookie_jar.update_cookies(answer.cookies)

    async def run(self, code):
        seen = {"stdout": "", "stderr": "", "results": [], "kinds": []}
        async with aiohttp.ClientSession(trust_env=True, base_url=self.base) as http:
            if self.way == "password":
                await self.log_in(http)
            async with http.post(url="api/kernels", params=self.params) as answer:
                answer.raise_for_status()
                seen["kernel"] = (await answer.json())["id"]
            try:
                await self.execute(http, seen, code)
            finally:
                kernel = f"api/kernels/{seen['kernel']}"
                async with http.delete(kernel, params=self.params) as answer:
                    answer.raise_for_status()
        return seen

    async def execute(self, http, seen, code):
        address = f"{self.base.replace('http', 'ws', 1)}api/kernels/{seen['kernel']}/channels"
        headers = dict(http.headers)
        if http.cookie_jar:
            headers["Cookie"] = "; ".join(f"{one.key}={one.value}" for one in http.cookie_jar)
        async with websockets.connect(address, additional_headers=headers) as socket:
            number = uuid.uuid4().hex
            header = {"msg_id": number, "msg_type": "execute_request", "username": "user",
                      "session": uuid.uuid4().hex, "date": "", "version": "5.3"}
            content = {"code": code, "silent": False, "store_history": True,
                       "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
            await socket.send(json.dumps({"header": header, "parent_header": {}, "metadata": {},
                                          "content": content, "channel": "shell"}))
            while True:
                message = json.loads(await asyncio.wait_for(socket.recv(), 100))
                if message.get("parent_header", {}).get("msg_id") != number:
                    continue
                kind, content = message.get("msg_type"), message["content"]
                seen["kinds"].append(kind)
                if kind == "stream":
                    seen[content["name"]] += content["text"]
                elif kind in ("execute_result", "display_data"):
                    seen["results"].append(content["data"])
                elif kind == "error":
                    seen["stderr"] += "\n".join(content["traceback"])
                elif kind == "status" and content["execution_state"] == "idle":
                    return

for line in sys.stdin:
    asked = json.loads(line)
    front_end = FrontEnd(sys.argv[1], asked["secret"], asked["way"])
    try:
        print(json.dumps({"ok": asyncio.run(front_end.run(asked["code"]))}), flush=True)
    except Exception as error:
        print(json.dumps({"error": str(error)}), flush=True)
"#;

/// A front end that runs.
struct FrontEnd {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for FrontEnd {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl FrontEnd {
    /// Nothing where its libraries are not there.
    fn start(serving: &Serving) -> Option<Self> {
        if !Path::new(PYTHON).exists() {
            without("a front end for Jupyter");
            return None;
        }
        let mut command = Command::new(PYTHON);
        command.args(["-c", FRONT_END, &serving.origin()]).env_remove("http_proxy");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Some(Self { child, input, output: BufReader::new(output) })
    }

    fn ask(&mut self, way: &str, secret: &str, code: &str) -> Value {
        let asked = json!({ "way": way, "secret": secret, "code": code });
        // If it has ended, it has no answer.
        _ = writeln!(self.input, "{asked}").and_then(|()| self.input.flush());
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Runs code with the token as the password.
    #[track_caller]
    fn run(&mut self, token: &str, code: &str) -> Value {
        let mut seen = self.ask("password", token, code);
        assert!(seen["ok"].is_object(), "{seen}");
        seen["ok"].take()
    }
}

const PICTURE: &str = "class Picture:\n    def _repr_png_(self): return b'\\x89PNG picture'\n\
                       Picture()";

#[test]
fn a_front_end_runs_code_with_a_token_as_its_password() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let token = token(&scene, "front", "watch,prompt,answer");
    let Some(mut front_end) = FrontEnd::start(&serving) else { return };
    let seen = front_end.run(&token, "import sys\nprint(6 * 7)\nprint('oh', file=sys.stderr)");
    assert_eq!((&seen["stdout"], &seen["stderr"]), (&json!("42\n"), &json!("oh\n")), "{seen}");
    let seen = front_end.run(&token, "'a value'");
    assert_eq!(seen["results"][0]["text/plain"], "'a value'", "{seen}");
    let seen = front_end.run(&token, PICTURE);
    assert_eq!(seen["results"][0]["image/png"], "iVBORyBwaWN0dXJl");
    let seen = front_end.run(&token, "1 / 0");
    assert!(seen["stderr"].as_str().unwrap().contains("ZeroDivisionError"), "{seen}");
    // Every kernel was ended, and its session with it.
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let listed = caller.get("/v1/sessions");
    let rows = listed["sessions"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row["state"] == "ended"), "{listed}");
    // The record names the token, and the sandbox held.
    let session = seen["kernel"].as_str().unwrap();
    let records = caller.get(&format!("/v1/sessions/{session}/records"));
    let started = records["records"].as_array().unwrap();
    let started = started.iter().find(|record| record["kind"] == "run_started").unwrap();
    assert!(!started["enforced"].as_array().unwrap().is_empty(), "{started}");
}

#[test]
fn a_wrong_password_or_a_token_in_the_address_runs_nothing() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let token = token(&scene, "front", "watch,prompt,answer");
    if let Some(mut front_end) = FrontEnd::start(&serving) {
        for (way, secret, status) in [
            ("password", "wrong", "401"),
            ("password", &token[..42], "401"),
            ("address", &token, "400"),
            ("none", "", "401"),
        ] {
            let seen = front_end.ask(way, secret, "print(1)");
            let told = seen["error"].as_str().unwrap_or_else(|| panic!("{way}: {seen}"));
            assert!(told.contains(status), "{way}: {told}");
        }
    }
    // Whoever tries it learns where a token belongs.
    let seen = serving.post(&format!("/api/kernels?token={token}"), &[], "{}");
    assert_eq!(seen.status, 400);
    assert!(seen.body.contains("token_in_url") && seen.body.contains("password"), "{seen:?}");
    assert_eq!(seen.header("referrer-policy"), Some("no-referrer"));
    let caller = Caller { serving: &serving, token: serving.bearer() };
    assert_eq!(caller.get("/v1/sessions")["sessions"], json!([]));
    let log = serving.errors.clone();
    assert_eq!(serving.get("/nothing", &[]).status, 404);
    log.wait_for("\"status\":404");
    assert!(!log.text().contains(&token), "{}", log.text());
    // The control.
    let mut client = KernelClient::begin(&serving, &token);
    assert_eq!(printed(&client.execute("print(1)"), "stdout"), "1\n");
}

#[test]
fn a_form_of_another_page_logs_nobody_in() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let token = token(&scene, "front", "watch,prompt,answer");
    let page = serving.get("/login", &[]);
    let cookie = page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let form = format!("{cookie}&password={token}");
    let (cookie, host) = (format!("Cookie: {cookie}"), serving.host());
    let sends = |more: &[&str], form: &str| {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        let head = ["POST /login HTTP/1.1", &host, "Connection: close", kind];
        serving.send(&[&head[..], more].concat(), form)
    };
    for (more, status) in [
        (&[][..], 403),
        (&["Cookie: _xsrf=x"], 403),
        (&[&cookie, "Origin: http://evil.example"], 403),
        (&[&cookie, "Origin: null"], 403),
        (&[&cookie, "Sec-Fetch-Site: cross-site"], 403),
        (&[&cookie, "Sec-Fetch-Site: same-origin"], 403),
    ] {
        assert_eq!(sends(more, &form).status, status, "{more:?}");
    }
    assert_eq!(sends(&[&cookie], "_xsrf=&password=x").status, 403);
    assert_eq!(sends(&[&cookie], &form.replace(&token, "")).status, 401);
    // The control. It redirects nowhere, and its cookie opens nothing of the page.
    let done = sends(&[&cookie], &form);
    assert_eq!(done.status, 204, "{done:?}");
    let ours = done.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert!(done.header("set-cookie").unwrap().contains("HttpOnly; SameSite=Strict"));
    let xsrf = form.split(['=', '&']).nth(1).unwrap();
    let all = [format!("{cookie}; {ours}"), format!("X-XSRFToken: {xsrf}")];
    let all = [all[0].as_str(), &all[1]];
    assert_eq!(serving.post("/api/kernels", &all, "{}").status, 201);
    assert_eq!(serving.post("/api/kernels", &all[..1], "{}").status, 401);
    for path in ["/metrics", "/v1/sessions", "/v1/socket"] {
        assert_eq!(serving.get(path, &all).status, 401, "{path}");
    }
    assert_eq!(serving.post("/v1/do", &all, "{}").status, 401);
    // It ends with its token.
    scene.run(&["serve", "token", "revoke", "front"]).exits(0);
    assert_eq!(serving.post("/api/kernels", &all, "{}").status, 401);
    assert_eq!(sends(&[&cookie], &form).status, 401);
}
