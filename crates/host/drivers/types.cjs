// Part of the JavaScript kernel's driver: blanks out the types of TypeScript.
//
// The interpreter itself does it, or a package of the project's or of everybody's. Loaded with the
// first cell and not before: a package of the project's is the project's code.
'use strict';
const Module = require('node:module');
const path = require('node:path');

const strippers = {
  amaro: ({ transformSync }) => (code) => {
    try {
      return transformSync(code, { mode: 'strip-only' }).code;
    } catch (error) {
      const message = `${error?.message ?? error}`;
      if (!message.includes('strip-only')) throw new SyntaxError(message);
      return transformSync(code, { mode: 'transform' }).code;
    }
  },
  sucrase: ({ transform }) => (code) => transform(code, {
    transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true,
  }).code,
  typescript: ({ transpileModule }) => transpileModule && ((code) => transpileModule(code, {
    compilerOptions: { target: 'ESNext', module: 'ESNext', verbatimModuleSyntax: true },
  }).outputText),
};
const findStripper = (folder, quietly) => {
  const own = Module.stripTypeScriptTypes;
  if (own) {
    return (code) => quietly(() => {
      try {
        return own(code);
      } catch (error) {
        // Enumerations and the like have a meaning beside their types.
        if (error.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw error;
        return own(code, { mode: 'transform' });
      }
    });
  }
  const prefix = path.dirname(path.dirname(process.execPath));
  const folders = [folder, path.join(prefix, 'lib'), '/usr/local/lib', '/usr/lib', '/usr/share/nodejs'];
  const paths = folders.flatMap((at) => [path.join(at, 'node_modules'), at]);
  for (const [name, make] of Object.entries(strippers)) {
    try {
      const found = make(require(require.resolve(name, { paths })));
      if (found) return found;
    } catch {
      // Not there, or not as it should be: another may be.
    }
  }
  throw new Error('there is nothing here that reads TypeScript: install amaro or sucrase in the project');
};
let strip = null;
module.exports = (code, folder, quietly) => {
  strip ??= findStripper(folder, quietly);
  return strip(code);
};
