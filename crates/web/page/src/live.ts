//! A reply while it is being written, from pieces that may come twice or be cut anywhere.
//!
//! Each piece says where in the reply it stands, in bytes of UTF-8, so a repeat changes nothing and
//! a hole is noticed. Pure.

import type { Live } from "./wire";

/** A part of a reply: prose, thoughts or code. */
export interface Part {
  kind: "text" | "reasoning" | "code";
  text: string;
  language?: string;
}

/** A reply that is being written. */
export interface LiveReply {
  number: number;
  bytes: number;
  parts: Part[];
  /** Marks at the end so far, so that a repeated one counts once. */
  marks: string[];
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function noReply(number: number): LiveReply {
  return { number, bytes: 0, parts: [], marks: [] };
}

/** Takes a piece in. False if something before it is missing. */
export function takePiece(reply: LiveReply, piece: Live): boolean {
  const offset = piece.offset ?? 0;
  if (offset > reply.bytes) return false;
  const kind = piece.live;
  if (kind === "text" || kind === "reasoning" || kind === "code") {
    const bytes = encoder.encode(piece.text ?? "");
    const known = reply.bytes - offset;
    if (bytes.length <= known) return true;
    const fresh = known === 0 ? piece.text ?? "" : decoder.decode(bytes.subarray(known));
    const last = reply.parts[reply.parts.length - 1];
    if (last !== undefined && last.kind === kind && (kind !== "code" || !reply.marks.includes("code_ends"))) {
      last.text += fresh;
    } else {
      reply.parts.push({ kind, text: fresh });
    }
    reply.bytes = offset + bytes.length;
    reply.marks = [];
    return true;
  }
  if (offset < reply.bytes || reply.marks.includes(kind)) return true;
  reply.marks.push(kind);
  if (kind === "code_begins" || kind === "call_begins") {
    const part: Part = { kind: "code", text: "" };
    if (piece.text !== undefined && piece.text !== "") part.language = piece.text;
    reply.parts.push(part);
  }
  return true;
}
