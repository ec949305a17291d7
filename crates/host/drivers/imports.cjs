// Part of the JavaScript kernel's driver: imports in words that a cell may have.
//
// The inspector's code has no `import` of its own, so both its forms become calls of a function of
// ours. Lines keep their numbers.
'use strict';
const vm = require('node:vm');

const compiles = (code) => {
  try {
    return Boolean(new vm.Script(`(async () => {${code}\n})`));
  } catch {
    return false;
  }
};
// Calls of `import()` with another word. The compiler tells them from the same letters in a text, a
// comment or a name: put a reserved word in their place, and only where `import(…)` was an
// expression it no longer compiles.
const calls = (code, word) => {
  const found = [...code.matchAll(/\bimport(?=\s*\()/g)].map((match) => match.index);
  if (found.length === 0 || !compiles(code)) return code;
  let from = 0;
  let whole = '';
  for (const at of found) {
    if (compiles(`${code.slice(0, at)}enum${code.slice(at + 6)}`)) continue;
    whole += code.slice(from, at) + word;
    from = at + 6;
  }
  return whole + code.slice(from);
};

// Declarations of imports become what the same words mean in a function. The compiler tells them
// from the same letters in a text or a comment: only where `import` was a declaration the code
// does not compile as long as it stands there. Lines keep their numbers.
const NAME = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*';
const TEXT = `"[^"\\n]*"|'[^'\\n]*'`;
const DECLARATION = new RegExp(
  `(?<=^|[\\n;}])[ \\t]*import\\s*(?:(?:(${NAME})\\s*)?,?\\s*(?:\\*\\s*as\\s+(${NAME})|\\{([^}]*)\\})?\\s*from\\s*)?(${TEXT})`
    + '(?:\\s*(?:with|assert)\\s*(\\{[^}]*\\}))?[ \\t]*;?',
  'gu',
);
const bindings = (name, space, list, load) => {
  const parts = list?.replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '').split(',').map((part) => part.trim()).filter(Boolean);
  const pairs = (parts ?? []).map((part) => part.split(/\s+as\s+/).map((word) => word.trim()));
  if (name) pairs.unshift(['default', name]);
  const wanted = pairs.map(([from]) => (/^["']/.test(from) ? from : `'${from}'`));
  const whole = load(wanted);
  if (space && !name) return `const ${space} = ${whole}`;
  const pattern = `{ ${pairs.map(([from, to]) => (to ? `${from}: ${to}` : from)).join(', ')} }`;
  return space ? `const ${space} = ${whole}, ${pattern} = ${space}` : `const ${pattern} = ${whole}`;
};
const inWords = ([all, name, space, list, from, attributes], word) => {
  // Older versions of Node know attributes as assertions.
  const options = attributes ? `{ with: ${attributes}, assert: ${attributes} }` : 'undefined';
  const load = (wanted) => `await ${word}(${from}, ${options}, [${wanted.join(', ')}])`;
  const plain = !name && !space && list === undefined;
  const words = plain ? load([]) : bindings(name, space, list, load);
  return `${words};${'\n'.repeat(all.split('\n').length - 1)}`;
};
const declarations = (code, word) => {
  const found = [...code.matchAll(DECLARATION)];
  const put = (kept) => {
    let from = 0;
    let whole = '';
    for (const one of found.filter((other) => !kept.includes(other))) {
      whole += code.slice(from, one.index) + inWords(one, word);
      from = one.index + one[0].length;
    }
    return whole + code.slice(from);
  };
  return put(compiles(put([])) ? found.filter((one) => compiles(put([one]))) : []);
};

module.exports = { calls, declarations };
