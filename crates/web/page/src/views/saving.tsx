//! Files down: links that the browser follows to save them, of any size.
//!
//! A link has no header, so its address carries a proof for its path: see `login.ts`.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { proof } from "../login";
import { currentKey } from "../store";
import { route } from "../uploads";

/** The path with a proof of it, once it is there. */
function useSigned(path: string): string | null {
  const [found, setFound] = useState<{ path: string; proof: string } | null>(null);
  const key = currentKey();
  useEffect(() => {
    let isWanted = true;
    void proof(key, new URL(path, location.origin).pathname).then((proof) => {
      if (isWanted) setFound({ path, proof });
    });
    return () => {
      isWanted = false;
    };
  }, [path, key]);
  return found === null || found.path !== path ? null : found.proof;
}

/** Saves one file: the staged one, or that of the folder. */
export function SaveFile({ session, path, label, children }: { session: string; path: string; label: string; children: ComponentChildren }): JSX.Element {
  const at = route(session, path);
  const signed = useSigned(at);
  return <a class="icon-button save" data-act="save" href={signed === null ? undefined : `${at}?k=${signed}`} download={path.split("/").pop()} aria-label={label} title={label}>{children}</a>;
}

const FORMS = [["zip", "as .zip"], ["patch", "as .patch"]] as const;

/** Saves all files that are staged, or that were applied. */
export function SaveAll({ session, staged, applied }: { session: string; staged: boolean; applied: boolean }): JSX.Element {
  const at = `/v1/sessions/${encodeURIComponent(session)}/files`;
  const signed = useSigned(at);
  const all = [...(staged ? ["staged"] : []), ...(applied ? ["applied"] : [])];
  return (
    <>
      {all.map((of) => FORMS.map(([form, word]) => (
        <a key={`${of}.${form}`} data-act={`save-${of}-${form}`} href={signed === null ? undefined : `${at}?of=${of}&form=${form}&k=${signed}`} download={`${of}.${form}`}>
          Save {of} files {word}
        </a>
      )))}
    </>
  );
}
