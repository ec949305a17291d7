//! The other questions: a line of input, a host, packages, code that runs again, staged changes.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Asked } from "../model";
import { showChanges } from "../place";
import { you } from "../store";
import { applying, ask, count, fileDetails, isNamed, languageName, packageLines, packageNames, whyApart, whyNot } from "../words";
import { useAnswer } from "./answering";
import { Act, Approvals, Card, CodeCard, Risk } from "./card";
import { CodeLines } from "./code";
import { counted, OutlineView } from "./outline";
import { Foreign, Name, Tag } from "./text";

export function QuestionCard({ session, asked, rev, ended }: Of & { ended: boolean }): JSX.Element {
  if (ended && asked.open) return <p class="mark"><span>{ask(asked.question)} Nobody answered before the session ended.</span></p>;
  switch (asked.question.about) {
    case "code": return <CodeCard session={session} asked={asked} rev={rev} />;
    case "input": return <InputCard session={session} asked={asked} rev={rev} />;
    case "host": return <HostCard session={session} asked={asked} rev={rev} />;
    case "packages": return <PackagesCard session={session} asked={asked} rev={rev} />;
    case "replay": return <ReplayCard session={session} asked={asked} rev={rev} />;
    case "changes": return <ChangesCard session={session} asked={asked} rev={rev} />;
    default: return <Card asked={asked} title={ask(asked.question)}>{() => <p class="muted">This page is older than the server. Please load it again.</p>}</Card>;
  }
}

interface Of {
  session: string;
  asked: Asked;
  /** Grows when the question has changed: the value itself stays the same. */
  rev: number;
}

function InputCard({ session, asked }: Of): JSX.Element {
  const answer = useAnswer(session, asked.question);
  const [text, setText] = useState("");
  const { prompt, secret } = asked.question;
  return (
    <Card asked={asked} title="The code asks for a line of input">
      {(guard) => (
        <form onSubmit={(event) => {
          event.preventDefault();
          answer.send({ decision: "give", text });
        }}>
          <label class="field">
            <span class="mono">{prompt === undefined || prompt === "" ? "Input" : <Foreign text={prompt} />}</span>
            {secret === true
              ? <input type="password" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
              : <input type="text" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />}
          </label>
          {secret === true && <p class="muted">This line stays hidden and is not recorded.</p>}
          {answer.problem !== "" && <p class="problem" role="alert">{answer.problem}</p>}
          <div class="acts">
            <button type="submit" class="primary" data-act="give" disabled={answer.sending}>Send</button>
            <Act guard={guard} name="end" disabled={answer.sending} onAct={() => answer.send({ decision: "end" })}>End the input</Act>
          </div>
        </form>
      )}
    </Card>
  );
}

const SPANS: { [span: string]: string } = { once: "Once", session: "In this session", always: "From now on" };

function HostCard({ session, asked }: Of): JSX.Element {
  const answer = useAnswer(session, asked.question);
  const { host, port, grants, proposal } = asked.question;
  const [isForGood, setForGood] = useState(false);
  const spans = grants ?? ["once", "session"];
  return (
    <Card asked={asked} title="Let the code reach a host?" tone="high">
      {(guard) => (
        <>
          <p class="host"><Name text={`${host ?? ""}:${port ?? ""}`} /></p>
          <p class="muted">{proposal === undefined ? "The code" : <>The code of {proposal}</>} waits. The host is not on your list.</p>
          {answer.problem !== "" && <p class="problem" role="alert">{answer.problem}</p>}
          <div class="acts">
            {spans.filter((span) => span !== "always").map((span, at) => (
              <Act key={span} guard={guard} kind={at === 0 ? "primary" : ""} name={`allow-${span}`} disabled={answer.sending} onAct={() => answer.send({ decision: "allow", for: span })}>
                {at === 0 ? `Allow ${(SPANS[span] ?? span).toLowerCase()}` : SPANS[span] ?? span}
              </Act>
            ))}
            {spans.includes("always") && <button type="button" data-act="allow-for-good" aria-expanded={isForGood} onClick={() => setForGood(!isForGood)}>From now on…</button>}
            <Act guard={guard} kind="danger" name="refuse" disabled={answer.sending} onAct={() => answer.send({ decision: "refuse" })}>Refuse</Act>
          </div>
          {isForGood && (
            <>
              <p>The host goes on the list in your settings. Code of every later session may reach it without a question.</p>
              <div class="acts">
                <Act guard={guard} kind="danger" name="allow-always" disabled={answer.sending} onAct={() => answer.send({ decision: "allow", for: "always" })}>Add it to the list</Act>
              </div>
            </>
          )}
        </>
      )}
    </Card>
  );
}

function PackagesCard({ session, asked }: Of): JSX.Element {
  const answer = useAnswer(session, asked.question);
  const { question } = asked;
  const removes = question.change === "remove";
  const not = whyNot(question.quorum, asked.approved, you.value);
  return (
    <Card asked={asked} title={`${removes ? "Remove" : "Install"} ${packageNames(question)}?`} tone="medium">
      {(guard) => (
        <>
          <ul class="packages">{packageLines(question).map((line) => <li key={line}><Name text={line} /></li>)}</ul>
          {question.list === undefined && !removes && <p>{question.build === true ? "Afterwards you are asked about what else would come." : "The index was not asked yet. Then you see everything that would come."}</p>}
          <p class="muted">
            From {question.source === "npm" ? "npm" : "the Python package index"}, for this folder only.
            {question.build === true && " Code of the packages runs to build them."}
            {question.runs_again === true && " The code runs again afterwards."}
          </p>
          <Approvals asked={asked} not={not} />
          {answer.problem !== "" && <p class="problem" role="alert">{answer.problem}</p>}
          <div class="acts">
            <Act guard={guard} kind="primary" name="install" disabled={answer.sending || not !== ""} onAct={() => answer.send({ decision: "install" })}>{removes ? "Remove" : "Install"}</Act>
            <Act guard={guard} name="refuse" disabled={answer.sending} onAct={() => answer.send({ decision: "refuse" })}>Refuse</Act>
          </div>
        </>
      )}
    </Card>
  );
}

function ReplayCard({ session, asked }: Of): JSX.Element {
  const answer = useAnswer(session, asked.question);
  const { question } = asked;
  const cells = question.cells ?? [];
  return (
    <Card asked={asked} title={ask(question)} tone={question.risk ?? "medium"}>
      {(guard) => (
        <>
          <p class="muted">It rebuilds what the interpreters knew. Everything below runs again, in this order.</p>
          {cells.map((cell) => (
            <div key={cell.proposal} class="replayed">
              <p class="muted"><Name text={cell.cell} /> · {languageName(cell.language)}</p>
              <CodeLines code={cell.code} language={cell.language} capabilities={cell.capabilities ?? []} label={`Code of ${cell.cell}`} />
            </div>
          ))}
          {(question.left_out ?? []).map((one) => <p key={one.cell} class="muted">Left out <Name text={one.cell ?? ""} />: <Foreign text={one.why} /></p>)}
          <Risk question={question} />
          {answer.problem !== "" && <p class="problem" role="alert">{answer.problem}</p>}
          <div class="acts">
            <Act guard={guard} kind="primary" name="run" disabled={answer.sending} onAct={() => answer.send({ decision: "run" })}>Run all again</Act>
            <Act guard={guard} name="reject" disabled={answer.sending} onAct={() => answer.send({ decision: "reject" })}>Start fresh instead</Act>
          </div>
        </>
      )}
    </Card>
  );
}

/** Milliseconds after which the second click on all of many changes answers. */
const AGAIN = 500;

function ChangesCard({ session, asked }: Of): JSX.Element {
  const answer = useAnswer(session, asked.question);
  const files = asked.question.files ?? [];
  const leftOut = asked.question.left_out ?? [];
  const { outline } = asked.question;
  // When all of many were wanted first: the answer is another click, at another place.
  const [wanted, setWanted] = useState<number | null>(null);
  const isSure = () => wanted !== null && performance.now() - wanted > AGAIN;
  return (
    <Card asked={asked} title={`Apply ${count(files.length, "changed file")} to your folder?`} tone="medium">
      {(guard) => (
        <>
          {outline !== undefined && <OutlineView heading="h3" outline={outline} files={files} />}
          {outline === undefined && <ul class="files">
            {files.map((file) => (
              <li key={file.path}><Tag tone={file.change}>{file.change}</Tag> {file.from !== undefined && <><Name text={file.from} /> → </>}<Name text={file.path} />{" "}
                {fileDetails(file).map((words) => <span key={words} class="muted"> · {words}</span>)}</li>
            ))}
          </ul>}
          {leftOut.length > 0 && (
            <>
              <p>Not applied with them:</p>
              <ul class="files">{leftOut.map(({ path, why, masked }) => (
                <li key={path}><Name text={path ?? ""} /> <span class="muted">· {whyApart(masked) === "" ? <Foreign text={why} /> : whyApart(masked)}</span>
                  {path !== undefined && whyApart(masked) !== "" && isNamed(path, masked) && <> <Act guard={guard} name="apply-apart" disabled={answer.sending} onAct={() => answer.send({ decision: "apply", picks: [{ path }] })}>Apply this file</Act></>}</li>
              ))}</ul>
            </>
          )}
          {answer.problem !== "" && <p class="problem" role="alert">{answer.problem}</p>}
          {outline !== undefined && wanted !== null && (
            <div class="acts">
              <p>Apply all {count(files.length, "change")}, {counted(outline)} of them only counted above?</p>
              <button type="button" data-act="back" onClick={() => setWanted(null)}>Back</button>
              <Act guard={guard} kind="primary" name="apply-all" disabled={answer.sending} onAct={() => isSure() && answer.send({ decision: "apply", seen: outline.hash })}>{applying("Yes, apply all", leftOut.length)}</Act>
            </div>
          )}
          <div class="acts">
            {outline === undefined
              ? <Act guard={guard} kind="primary" name="apply" disabled={answer.sending} onAct={() => answer.send({ decision: "apply" })}>{applying("Apply all", leftOut.length)}</Act>
              : wanted === null && <Act guard={guard} kind="primary" name="apply" disabled={answer.sending} onAct={() => setWanted(performance.now())}>{applying("Apply all", leftOut.length)}…</Act>}
            <button type="button" data-act="show-changes" onClick={() => showChanges.value = true}>Look and choose</button>
            <Act guard={guard} name="later" disabled={answer.sending} onAct={() => answer.send({ decision: "later" })}>Later</Act>
            <Act guard={guard} kind="danger" name="discard" disabled={answer.sending} onAct={() => answer.send({ decision: "discard" })}>Discard</Act>
          </div>
        </>
      )}
    </Card>
  );
}
