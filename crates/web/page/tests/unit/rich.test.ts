import assert from "node:assert/strict";
import test from "node:test";
import { formula, type MathNode } from "../../src/rich/formula";
import { hasWords, tableOf } from "../../src/rich/table";

test("tables are read from every form of data", () => {
  const wanted = { names: ["a", "b"], rows: [["1", "x, \"y\"\nz"], ["2", ""]] };
  const seen = (mime: string, text: string) => {
    const table = tableOf(mime, text);
    return table === null ? null : { names: table.names, rows: table.rows };
  };
  assert.deepEqual(seen("text/csv", 'a,b\r\n1,"x, ""y""\nz"\r\n2,\r\n'), wanted);
  assert.deepEqual(seen("text/tab-separated-values", "a\tb\n1\t\"x, \"\"y\"\"\nz\"\n2\t"), wanted);
  assert.deepEqual(seen("application/json", JSON.stringify([{ a: 1, b: 'x, "y"\nz' }, { a: 2, b: null }])), wanted);
  assert.deepEqual(seen("application/vnd.dataresource+json", JSON.stringify({ schema: { fields: [{ name: "b" }] }, data: [{ a: 1, b: 2 }] })), { names: ["b"], rows: [["2"]] });
  assert.deepEqual(tableOf("text/csv", "a,b\n1,x\n-2.5,y\n")?.numeric, [true, false]);
});

test("a page is a table only if it is one plain table", () => {
  const table = "<style>td{}</style><table><thead><tr><th></th><th>a &amp; b</th></tr></thead><tbody><tr><th>0</th><td><b>1</b> &#x3c;x&gt;</td></tr></tbody></table>";
  assert.deepEqual(tableOf("text/html", table)?.rows, [["0", "1 <x>"]]);
  assert.deepEqual(tableOf("text/html", table)?.names, ["", "a & b"]);
  for (const other of [
    "<p>no table</p>",
    table + table,
    table.replace("<td>", '<td colspan="2">'),
    table.replace("</td>", "</td><td>more</td>"),
    "<table><tr><td>" + '"'.repeat(50_000),
    "<table>" + "<tr".repeat(50_000),
  ]) assert.equal(tableOf("text/html", other), null);
});

test("a page of scripts alone says nothing", () => {
  for (const empty of ["", " <div><script>x</script>&nbsp;<style>a</style></div> ", "<!-- a --><div id='a'></div>", "<script>".repeat(50_000), "<".repeat(50_000), "<script src=a>"]) assert.equal(hasWords(empty), false, empty.slice(0, 40));
  for (const full of ["a", "<script>x</script> <p>Sales", "<img src=a>", "<style>a</style><svg></svg>", "<b>" + "<i>".repeat(50_000) + "x"]) assert.equal(hasWords(full), true, full.slice(0, 40));
});

test("formulas are set, or shown as they are written", () => {
  const said = (node: MathNode): string => `${node.tag}(${node.text ?? (node.children ?? []).map(said).join(" ")})`;
  const set = (source: string) => {
    const tree = formula(source);
    return tree === null ? null : (tree.children ?? []).map(said).join(" ");
  };
  assert.equal(set("$x^2$"), "msup(mi(x) mn(2))");
  assert.equal(set("\\frac{1}{\\sqrt{2\\pi}}"), "mfrac(mn(1) msqrt(mrow(mn(2) mi(π))))");
  assert.equal(set("\\sum_{i=1}^n a_i"), "munderover(mo(∑) mrow(mi(i) mo(=) mn(1)) mi(n)) msub(mi(a) mi(i))");
  assert.equal(set("\\left[\\begin{matrix}1 & 0\\\\0 & 1\\end{matrix}\\right]")?.includes("mtable(mtr(mtd(mn(1)) mtd(mn(0))) mtr("), true);
  assert.equal(set("$$\\displaystyle \\int_0^\\infty e^{-x}\\,dx = 1$$")?.startsWith("msubsup(mo(∫)"), true);
  for (const odd of ["\\href{javascript:x}{y}", "\\unknown", "{", "x^", "x^1^2", "\\begin{tikzpicture}\\end{tikzpicture}", "\\constructor", "\\begin{toString}\\end{toString}", "{".repeat(500), "#", "\\left("]) assert.equal(set(odd), null, odd);
});
