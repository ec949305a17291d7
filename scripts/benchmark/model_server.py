"""A model that streams code of any size in tokens of four characters: real HTTP on loopback, chat completions as server-sent events.

    model_server.py        prints its port, serves until its standard input ends

The address says what is wanted: `/SHAPE/CHARACTERS/NAME/v1/chat/completions`. The first request for a NAME is answered with one piece of
Python of that many characters, as a call of the tool `execute` (SHAPE `tool`) or in a fence (SHAPE `fence`); every later one
with a short text. Each token is an event and a write of its own.
"""
import http.server
import json
import sys
import threading

TOKEN = 4
LINE = 32


def code(characters):
    """Python of exactly that many characters that runs quickly and prints how long it is."""
    end = f"print('ran', {characters})\n"
    lines = (characters - len(end)) // LINE
    body = "".join(f"value_{number:07} = 1".ljust(LINE - 1) + "\n" for number in range(lines))
    return body + "#" * (characters - len(end) - len(body) - 1) + "\n" + end


def said(shape, characters):
    """The whole text that is streamed, and what stands around each token."""
    if shape == "tool":
        return json.dumps({"language": "python", "code": code(characters)}), '{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}'
    return f"```python\n{code(characters)}```\n", '{"content":%s}'


HEAD = 'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"bench","choices":[{"index":0,"delta":'
FIRST = {
    "tool": '{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"execute","arguments":""}}]}',
    "fence": '{"role":"assistant","content":""}',
    "text": '{"role":"assistant","content":"Done."}',
}


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    answered = set()

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        _, shape, characters, name, *_ = self.path.split("/")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if name in self.answered:
            self.event(FIRST["text"])
            self.end("stop")
            return
        self.answered.add(name)
        text, around = said(shape, int(characters))
        self.event(FIRST[shape])
        for start in range(0, len(text), TOKEN):
            self.event(around % json.dumps(text[start : start + TOKEN]))
        self.end("tool_calls" if shape == "tool" else "stop")

    def event(self, delta, finish="null"):
        self.piece(f'{HEAD}{delta},"finish_reason":{finish}}}]}}\n\n')

    def end(self, reason):
        self.event("{}", json.dumps(reason))
        self.piece("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def piece(self, text):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text.encode()))

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
