//! A formula as MathML, which the browser sets.

import { h, type JSX, type VNode } from "preact";
import { oneLine } from "../foreign";
import type { MathNode } from "../rich/formula";

function element(node: MathNode, at: number): VNode {
  // The tags are those of `MathNode` and no others.
  return h(node.tag as string, { key: at, ...node.attributes }, node.text === undefined ? (node.children ?? []).map(element) : oneLine(node.text)) as VNode;
}

export function Formula({ tree }: { tree: MathNode }): JSX.Element {
  return <div class="formula-box" tabIndex={0} role="group" aria-label="Formula">{h("math", { display: "block" }, element(tree, 0))}</div>;
}
