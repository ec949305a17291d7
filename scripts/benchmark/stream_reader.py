"""The floor for streamed code: a bare client that reads the stream, runs the code and asks once more.

    stream_reader.py URL       URL as far as `/v1`

Standard library only, one JSON event after another, nothing judged, shown or recorded. Prints the processor time
that it had used when the code was read, before it runs it.
"""
import http.client
import json
import sys
import time
import urllib.parse


def ask(url):
    """The text and the tool's arguments of one reply."""
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port)
    connection.request("POST", f"{address.path}/chat/completions", json.dumps({"model": "bench", "stream": True}))
    text, arguments = [], []
    for line in connection.getresponse():
        if line.startswith(b"data: {"):
            delta = json.loads(line[6:])["choices"][0]["delta"]
            text.append(delta.get("content") or "")
            arguments += [call["function"]["arguments"] for call in delta.get("tool_calls", ())]
    return "".join(text), "".join(arguments)


def main():
    text, arguments = ask(sys.argv[1])
    code = json.loads(arguments)["code"] if arguments else text.removeprefix("```python\n").removesuffix("```\n")
    print("processor", time.process_time())
    exec(compile(code, "streamed", "exec"), {})
    ask(sys.argv[1])


if __name__ == "__main__":
    main()
