// The JavaScript kernel's driver: runs cells in one global scope and claims what came of each.
//
// Cells come in on descriptor 3 as a decimal length, a newline and that many bytes; claims go
// out on it as JSON lines. Descriptors 1 and 2 belong to the code. Nothing here is a boundary.
//
// Cells are evaluated by V8's own REPL mode, which only the inspector offers: it alone knows
// `await` at the top and lets a later cell declare a `const` again. No port is opened.
'use strict';
const asyncHooks = require('node:async_hooks');
const { writeSync } = require('node:fs');
const inspector = require('node:inspector');
const Module = require('node:module');
const net = require('node:net');
const path = require('node:path');
const { Writable } = require('node:stream');
const url = require('node:url');
const util = require('node:util');
const vm = require('node:vm');

const LONGEST = 1_000_000; // Characters of one text in a claim; claims are capped by their reader.
const START = Symbol.for('interpreter.start');
const IMPORT = '__interpreter_import';

const { clearImmediate, clearTimeout, setImmediate } = globalThis;
const exit = process.exit.bind(process);
const control = new net.Socket({ fd: 3 });
const session = new inspector.Session();

// What is known of the running cell: whether anything in it failed, whether it was interrupted,
// and how to interrupt it.
let cell = null;

const claim = (fields) => control.write(`${JSON.stringify(fields)}\n`);
const text = (whole) => {
  const cut = `${whole.slice(0, LONGEST)}… (${whole.length} characters in all)`;
  // A lone surrogate is not text, and JSON that holds one is refused.
  return (whole.length > LONGEST ? cut : whole).replace(/\p{Surrogate}/gu, '\ufffd');
};

// What the code prints through. Node's own streams keep a state, and an interrupt in the midst
// of a write would leave them waiting for its end for ever. These write at once and keep none.
class Output extends Writable {
  constructor(fd) {
    super({ decodeStrings: false });
    this.fd = fd;
  }

  write(chunk, encoding, callback) {
    if (typeof encoding === 'function') return this.write(chunk, undefined, encoding);
    const bytes = chunk instanceof Uint8Array ? chunk : Buffer.from(chunk, encoding);
    for (let done = 0; done < bytes.length;) {
      try {
        done += writeSync(this.fd, bytes, done);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        // A program that shares the pipe made it non-blocking, and it is full.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
    if (callback) process.nextTick(callback);
    return true;
  }

  _write(chunk, encoding, callback) {
    this.write(chunk, encoding, callback);
  }
}
const print = Output.prototype.write.bind({ fd: 2 });
const defineOutputs = () => {
  for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
    Object.defineProperty(process, name, { value: new Output(fd), configurable: true, enumerable: true });
  }
};

// Lets an interrupt also end what the cell would do later: a loop around a sleep goes on only
// when its timer fires. They are held weakly, and the list is swept before it grows.
let timers = [];
let sweepAt = 1024;
const timerHook = asyncHooks.createHook({
  init(id, type, trigger, timer) {
    if (type !== 'Timeout' && type !== 'Immediate') return;
    if (timers.length >= sweepAt) {
      timers = timers.filter((one) => one.deref()?._destroyed === false);
      sweepAt = Math.max(1024, timers.length * 2);
    }
    timers.push(new WeakRef(timer));
  },
});
const stopTimers = () => {
  for (const one of timers) {
    clearTimeout(one.deref());
    clearImmediate(one.deref());
  }
};

// The inspector's code has no `import()` of its own, so calls of it become calls of ours. V8
// itself tells them from the same letters in a text, a comment or a name: put another reserved
// word in their place, and only where `import(…)` was an expression it no longer compiles.
const compiles = (code) => {
  try {
    return Boolean(new vm.Script(`(async () => {${code}\n})`));
  } catch {
    return false;
  }
};
const withImports = (code) => {
  const found = [...code.matchAll(/\bimport(?=\s*\()/g)].map((match) => match.index);
  if (found.length === 0 || !compiles(code)) return code;
  let from = 0;
  let whole = '';
  for (const at of found) {
    if (compiles(`${code.slice(0, at)}enum${code.slice(at + 6)}`)) continue;
    whole += code.slice(from, at) + IMPORT;
    from = at + 6;
  }
  return whole + code.slice(from);
};
let folder = null;
const here = () => path.join(folder, 'cell.js');
const importHere = (specifier, options) => {
  const loader = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  if (!loader) {
    // Versions before it find packages beside this file only.
    const relative = /^\.{0,2}\//.test(specifier);
    return import(relative ? new URL(specifier, url.pathToFileURL(here())).href : specifier);
  }
  const settings = { filename: here(), importModuleDynamically: loader };
  const call = vm.compileFunction('return import(a, b)', ['a', 'b'], settings);
  const { emitWarning } = process;
  process.emitWarning = () => {}; // That the loader is experimental is not the code's doing.
  try {
    return call(specifier, options);
  } finally {
    process.emitWarning = emitWarning;
  }
};

// The names that a script or the REPL has beside the standard ones.
const define = (name, value) =>
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
const defineLibraries = () => {
  for (const name of Module.builtinModules) {
    if (!/^[a-z]\w*$/.test(name) || name in globalThis) continue;
    const get = () => require(name);
    const set = (value) => define(name, value);
    Object.defineProperty(globalThis, name, { get, set, configurable: true });
  }
};
const enterFolder = () => {
  if (process.cwd() === folder) return;
  folder = process.cwd();
  const main = new Module(here());
  const load = Module.createRequire(here());
  load.main = main;
  define('require', load);
  define('module', main);
  define('exports', main.exports);
  define('__filename', here());
  define('__dirname', folder);
};

// An error's text, without the frames by which this file called the code.
const inspectError = (error) => {
  const kept = [];
  let skipping = false;
  for (const line of util.inspect(error).split('\n')) {
    const ours = line.includes('(node:inspector:') || line.includes(__filename);
    skipping = /^\s+at /.test(line) && (skipping || ours);
    if (!skipping) kept.push(line);
    else if (line.endsWith(' {')) kept[kept.length - 1] += ' {';
  }
  return kept.join('\n');
};
const fail = (error, place = '') => {
  if (cell) cell.failed = true;
  try {
    print(`${place}Uncaught ${inspectError(error)}\n`);
  } catch {
    print('Uncaught error whose text could not be made\n');
  }
};
const raise = (error, place) => {
  fail(error, place);
  const known = error instanceof Error;
  const name = known ? `${error.name}` : typeof error;
  const message = known ? `${error.message}` : util.inspect(error);
  claim({ kind: 'raised', name: text(name), message: text(message) });
};
// Where a cell that does not compile went wrong, as node shows it for a file.
const placeOf = (name, code, { lineNumber, columnNumber }) => {
  const line = code.split('\n')[lineNumber] ?? '';
  return `${name}:${lineNumber + 1}\n${line}\n${' '.repeat(columnNumber)}^\n\n`;
};

// The inspector answers with descriptions; handing one to a function of ours gives the value.
const holder = {};
let holderId = null;
const take = ({ value, unserializableValue, objectId }) => {
  session.post('Runtime.callFunctionOn', {
    objectId: holderId,
    functionDeclaration: 'function (value) { this.value = value; }',
    arguments: [{ value, unserializableValue, objectId }],
  });
  const { value: taken } = holder;
  delete holder.value;
  return taken;
};
const connect = () => {
  session.connect();
  globalThis[START] = holder;
  const expression = `globalThis[Symbol.for('${START.description}')]`;
  session.post('Runtime.evaluate', { expression }, (error, { result }) => {
    holderId = result.objectId;
  });
};

const starter = new vm.Script(`globalThis[Symbol.for('${START.description}')]()`);
const evaluate = (name, code) =>
  new Promise((resolve, reject) => {
    const parameters = {
      expression: `${withImports(code)}\n//# sourceURL=${name}`,
      replMode: true,
      awaitPromise: true,
      objectGroup: name,
    };
    const value = () =>
      session.post('Runtime.evaluate', parameters, (error, answer) =>
        error ? reject(error) : resolve(answer));
    Object.defineProperty(globalThis, START, { value, configurable: true });
    try {
      // Only inside such a script can a signal stop a loop that never returns.
      starter.runInThisContext({ breakOnSigint: true });
    } catch (error) {
      if (error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') cell.interrupt();
      else reject(error);
    }
  });

const runCode = async (name, code) => {
  const own = cell;
  const { result, exceptionDetails: details } = await evaluate(name, code);
  if (own.interrupted) return;
  if (details) {
    const error = take(details.exception);
    const compiling = details.scriptId !== undefined && error instanceof SyntaxError;
    raise(error, compiling ? placeOf(name, code, details) : '');
    return;
  }
  let value = take(result);
  session.post('Runtime.releaseObjectGroup', { objectGroup: name });
  try {
    // A promise that is left over is waited for: `main()` ends when what it does has ended.
    if (util.types.isPromise(value)) value = await value;
    if (value === undefined || own.interrupted) return;
    claim({ kind: 'result', bundle: { 'text/plain': text(util.inspect(value)) } });
  } catch (error) {
    if (!own.interrupted) raise(error);
  }
};

const runCell = async (name, code) => {
  enterFolder();
  timers = [];
  timerHook.enable();
  const interrupted = new Promise((resolve) => {
    const interrupt = () => {
      cell.interrupted = true;
      resolve();
    };
    cell = { failed: false, interrupted: false, interrupt };
  });
  await Promise.race([runCode(name, code), interrupted]);
  timerHook.disable();
  if (cell.interrupted) stopTimers();
  // Rejections that nobody handled are told only now.
  await new Promise((resolve) => setImmediate(resolve));
  const status = cell.interrupted ? 130 : Number(cell.failed);
  cell = null;
  claim({ kind: 'finished', status });
};

const main = async () => {
  let pieces = [];
  let size = 0;
  let needed = 1;
  let count = 0;
  for await (const piece of control) {
    pieces.push(piece);
    size += piece.length;
    while (size >= needed) {
      const received = Buffer.concat(pieces);
      pieces = [received];
      const start = received.indexOf('\n') + 1;
      const end = start + Number(received.toString('latin1', 0, start));
      needed = start === 0 ? size + 1 : end;
      if (size < needed) break;
      const code = received.toString('utf8', start, end);
      pieces = [received.subarray(end)];
      size -= end;
      needed = 1;
      count += 1;
      await runCell(`cell-${count}`, code);
    }
  }
};

process.on('SIGINT', () => cell?.interrupt());
process.on('uncaughtException', (error) => fail(error));
process.on('unhandledRejection', (error) => fail(error));
connect();
defineOutputs();
defineLibraries();
Object.defineProperty(globalThis, IMPORT, { value: importHere });
claim({ kind: 'ready', version: process.versions.node });
main().then(() => exit(0), (error) => {
  print(`the kernel ends: ${util.inspect(error)}\n`);
  exit(1);
});
