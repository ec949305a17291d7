// Part of the JavaScript kernel's driver: what Bun does in another way. It has no inspector but a
// compiler for the same purpose, and its sockets cannot be made of a descriptor.
'use strict';
const { read } = require('node:fs');
const { isPromise } = require('node:util').types;

// Makes of a cell a call whose value holds that of the last expression.
exports.compiler = (loader) => new globalThis.Bun.Transpiler({ replMode: true, loader });

// It takes a declaration at the end for an expression; that has no value.
const endsInDeclaration = (program) => {
  const declared = [...program.matchAll(/^var ([^;]*);$/gm)].flatMap(([, names]) => names.split(', '));
  const last = program.slice(program.lastIndexOf('\n    value: ') + 12);
  const target = /^([\w$]+|\{[^]*?\}|\[[^]*?\]) = /.exec(last)?.[1] ?? '';
  return /^[[{]/.test(target) ? declared.length > 0 : declared.includes(target);
};

// Runs what the compiler made of a cell, and gives its value.
exports.evaluate = async (name, program) => {
  const made = (0, eval)(`${program}\n//# sourceURL=${name}`);
  let value = (await made)?.value;
  if (isPromise(value)) value = await value;
  return endsInDeclaration(program) ? undefined : value;
};

// The error that the compiler found in a cell, and where, from 0; null if it is the cell's own.
exports.mistake = (error) => {
  const first = error.errors?.[0] ?? error;
  const { line, column } = first?.position ?? {};
  if (line === undefined) return null;
  return { error: new SyntaxError(first.message), place: { lineNumber: line - 1, columnNumber: column - 1 } };
};

// What comes in on a descriptor.
exports.receive = async function* (descriptor) {
  const piece = Buffer.alloc(65536);
  for (;;) {
    const count = await new Promise((resolve, reject) => {
      read(descriptor, piece, 0, piece.length, null, (error, size) => (error ? reject(error) : resolve(size)));
    });
    if (count === 0) return;
    yield Buffer.from(piece.subarray(0, count));
  }
};
