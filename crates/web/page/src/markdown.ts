//! Markdown of a model, as a tree of a few safe kinds of node.
//!
//! HTML in it stays text, pictures are named and never loaded, and a link is words and an address
//! that a person has to confirm. No HTML string exists anywhere. Pure; views make the elements.

import type { Nodes, PhrasingContent, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmStrikethroughFromMarkdown } from "mdast-util-gfm-strikethrough";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";

export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "break" }
  | { type: "strong" | "emphasis" | "deleted"; children: Inline[] }
  | { type: "link"; address: string; host: string; children: Inline[] }
  | { type: "picture"; alt: string; host: string };

export type Block =
  | { type: "paragraph"; children: Inline[] }
  | { type: "heading"; depth: number; children: Inline[] }
  | { type: "code"; language: string; text: string }
  | { type: "quote"; children: Block[] }
  | { type: "list"; ordered: boolean; start: number; items: Block[][] }
  | { type: "table"; align: ("left" | "right" | "center" | null)[]; rows: Inline[][][] }
  | { type: "rule" };

/** The deepest nesting that is followed. */
const DEEPEST = 40;

/** The host of an address that may be opened, or nothing. */
export function webHost(address: string): string {
  try {
    const url = new URL(address);
    return url.protocol === "https:" || url.protocol === "http:" ? url.host : "";
  } catch {
    return "";
  }
}

/** The blocks of a text. */
export function parse(text: string): Block[] {
  try {
    const root = fromMarkdown(text, {
      extensions: [gfmTable(), gfmStrikethrough()],
      mdastExtensions: [gfmTableFromMarkdown(), gfmStrikethroughFromMarkdown()],
    });
    const definitions = new Map<string, string>();
    for (const node of root.children) {
      if (node.type === "definition") definitions.set(node.identifier, node.url);
    }
    const all = blocks(root.children, definitions, 0);
    level(all, { last: 1 });
    return all;
  } catch {
    return [{ type: "paragraph", children: [{ type: "text", text }] }];
  }
}

/** Gives headings levels below that of the page, none of them skipped: whoever listens goes by them. */
function level(all: Block[], so: { last: number }): void {
  for (const one of all) {
    if (one.type === "heading") so.last = one.depth = Math.min(one.depth + 1, so.last + 1, 6);
    else if (one.type === "quote") level(one.children, so);
    else if (one.type === "list") for (const item of one.items) level(item, so);
  }
}

type Definitions = Map<string, string>;

function blocks(nodes: RootContent[], known: Definitions, depth: number): Block[] {
  return nodes.flatMap((node) => block(node, known, depth + 1));
}

function block(node: RootContent, known: Definitions, depth: number): Block[] {
  if (depth > DEEPEST) return [{ type: "paragraph", children: [{ type: "text", text: "…" }] }];
  switch (node.type) {
    case "paragraph":
      return [{ type: "paragraph", children: inlines(node.children, known, depth) }];
    case "heading":
      return [{ type: "heading", depth: node.depth, children: inlines(node.children, known, depth) }];
    case "code":
      return [{ type: "code", language: node.lang ?? "", text: node.value }];
    case "html":
      return [{ type: "paragraph", children: [{ type: "text", text: node.value }] }];
    case "blockquote":
      return [{ type: "quote", children: blocks(node.children, known, depth) }];
    case "list":
      return [{
        type: "list", ordered: node.ordered === true, start: node.start ?? 1,
        items: node.children.map((item) => blocks(item.children, known, depth)),
      }];
    case "table":
      return [{
        type: "table", align: node.align ?? [],
        rows: node.children.map((row) => row.children.map((cell) => inlines(cell.children, known, depth))),
      }];
    case "thematicBreak":
      return [{ type: "rule" }];
    case "definition":
      return [];
    default:
      return [{ type: "paragraph", children: inlines([node as PhrasingContent], known, depth) }];
  }
}

function inlines(nodes: PhrasingContent[], known: Definitions, depth: number): Inline[] {
  return nodes.flatMap((node) => inline(node, known, depth + 1));
}

function inline(node: PhrasingContent | Nodes, known: Definitions, depth: number): Inline[] {
  if (depth > DEEPEST) return [{ type: "text", text: "…" }];
  const children = (): Inline[] => ("children" in node ? inlines(node.children as PhrasingContent[], known, depth) : []);
  switch (node.type) {
    case "text":
      return [{ type: "text", text: node.value }];
    case "html":
      return [{ type: "text", text: node.value }];
    case "inlineCode":
      return [{ type: "code", text: node.value }];
    case "break":
      return [{ type: "break" }];
    case "strong":
      return [{ type: "strong", children: children() }];
    case "emphasis":
      return [{ type: "emphasis", children: children() }];
    case "delete":
      return [{ type: "deleted", children: children() }];
    case "link":
      return [{ type: "link", address: node.url, host: webHost(node.url), children: children() }];
    case "linkReference": {
      const address = known.get(node.identifier) ?? "";
      return [{ type: "link", address, host: webHost(address), children: children() }];
    }
    case "image":
      return [{ type: "picture", alt: node.alt ?? "", host: webHost(node.url) }];
    case "imageReference":
      return [{ type: "picture", alt: node.alt ?? "", host: webHost(known.get(node.identifier) ?? "") }];
    default:
      return "value" in node && typeof node.value === "string" ? [{ type: "text", text: node.value }] : children();
  }
}

/**
 * A growing text in parts, cut at blank lines outside of fences: all but the last one stay the same
 * as more comes, so only the last is parsed again.
 */
export function parts(text: string): string[] {
  const found: string[] = [];
  let begin = 0;
  let fence = "";
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    const line = end < 0 ? text.slice(at) : text.slice(at, end);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === "") {
      if (mark !== undefined) fence = mark;
      else if (line.trim() === "" && end >= 0 && !/^[\s>*+-]|^\d+[.)]/.test(text.slice(end + 1, end + 5))) {
        if (at > begin) found.push(text.slice(begin, at));
        begin = end + 1;
      }
    } else if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) {
      fence = "";
    }
    if (end < 0) break;
    at = end + 1;
  }
  if (begin < text.length) found.push(text.slice(begin));
  return found;
}
