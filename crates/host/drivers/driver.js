// The JavaScript kernel's driver: runs cells in one global scope and claims what came of each.
//
// Cells come in on descriptor 3 as a decimal length, a newline and that many bytes; claims go
// out on it as JSON lines. Descriptors 1 and 2 belong to the code. Nothing here is a boundary.
//
// Cells are evaluated by V8's own REPL mode, which only the inspector offers: it alone knows
// `await` at the top and lets a later cell declare a `const` again. No port is opened. Node and
// Deno have it; for Bun, see `bun.cjs`.
//
// The words by which a cell was called may come before it: after an `@` their length and number,
// then each with a NUL at its end. They are its name, the path of its file, which is empty without
// one, and its arguments. Code with a file is a script: the interpreter ends with it.
//
// With the argument `typescript`, cells are TypeScript: their types are blanked out first, so that
// every line keeps its number.
'use strict';
const asyncHooks = require('node:async_hooks');
const { ReadStream, closeSync, fstatSync, openSync, writeSync } = require('node:fs');
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
const TYPED = process.argv[2] === 'typescript';

const { Bun, Deno, clearImmediate, clearTimeout, setImmediate } = globalThis;
const leaveProcess = process.exit;
const leaveDeno = Deno?.exit;
const exit = (status) => {
  if (Deno) Deno.exit = leaveDeno;
  leaveProcess.call(process, status);
};
const control = Bun ? null : new net.Socket({ fd: 3 });
const session = Bun ? null : new inspector.Session();

// What is known of the running cell: whether anything in it failed, whether it was interrupted,
// and how to interrupt it.
let cell = null;

const claim = (fields) => {
  const line = `${JSON.stringify(fields)}\n`;
  // Deno knows the socket by another number. Elsewhere it is written to at once: a stream takes longer.
  if (Deno) control.write(line);
  else writeAll(3, Buffer.from(line));
};
const text = (whole) => {
  const cut = `${whole.slice(0, LONGEST)}… (${whole.length} characters in all)`;
  // A lone surrogate is not text, and JSON that holds one is refused.
  return (whole.length > LONGEST ? cut : whole).replace(/\p{Surrogate}/gu, '\ufffd');
};

const writeAll = (fd, bytes) => {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      // A program that shares the pipe made it non-blocking, and it is full.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
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
    writeAll(this.fd, chunk instanceof Uint8Array ? chunk : Buffer.from(chunk, encoding));
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
  if (Bun || Deno) return;
  // Node's own console also tells the inspector, which keeps what was printed, and where.
  const plain = new console.Console({ stdout: process.stdout, stderr: process.stderr });
  for (const [name, method] of Object.entries(plain)) {
    if (typeof method === 'function') console[name] = method;
  }
};

// A file as standard input is read from its start by every cell. Nothing here can move back within
// a file that is open, so it is opened anew: the lowest number is the next one, and that is 0.
const READS_FILE = !Deno && fstatSync(0).isFile();
const rewind = () => {
  const fresh = openSync('/proc/self/fd/0', 'r');
  closeSync(0);
  openSync(`/proc/self/fd/${fresh}`, 'r');
  closeSync(fresh);
  let stream = null;
  const get = () => (stream ??= new ReadStream(null, { fd: 0, autoClose: false }));
  Object.defineProperty(process, 'stdin', { get, configurable: true, enumerable: true });
};

// What the cell has set in motion: timers, and requests that end by themselves, such as reading a
// file. A cell ends when they have; what may go on for ever (servers, intervals, programs) is not
// waited for. An interrupt stops the timers: a loop around a sleep goes on only when its timer fires.
let moving = new Map();
let sweepAt = 1024;
let tellMoved = null;
const isMoving = (timer) =>
  timer === null || (timer._destroyed !== true && timer.hasRef?.() !== false && !timer._repeat);
const moved = (id) => {
  if (isMoving(moving.get(id) ?? null)) moving.delete(id);
  tellMoved?.();
};
const moves = (id, timer) => {
  if (moving.size >= sweepAt) {
    for (const [old, one] of moving) if (one?._destroyed === true) moving.delete(old);
    sweepAt = Math.max(1024, moving.size * 2);
  }
  moving.set(id, timer);
};
const motion = asyncHooks.createHook({
  init(id, type, trigger, resource) {
    if (type === 'Timeout' || type === 'Immediate') moves(id, resource);
    else if (type.includes('REQ') && !type.startsWith('HTTP')) moves(id, null);
  },
  after(id) {
    if (moving.has(id)) moved(id);
  },
});
// Only while the end is waited for: it makes promises slow.
const stopping = asyncHooks.createHook({ destroy: (id) => moving.delete(id) && tellMoved?.() });
// Deno and Bun have no such hooks; the functions themselves are watched there.
const watchTimers = (get, put) => {
  for (const [start, stop] of [['setTimeout', 'clearTimeout'], ['setImmediate', 'clearImmediate']]) {
    const [set, clear] = [get(start), get(stop)];
    const watched = (callback, ...rest) => {
      if (typeof callback !== 'function') return set(callback, ...rest);
      const timer = set((...values) => {
        moved(timer);
        return callback(...values);
      }, ...rest);
      moves(timer, Object(timer) === timer ? timer : null);
      return timer;
    };
    Object.setPrototypeOf(watched, set);
    put(start, watched);
    put(stop, (timer) => {
      clear(timer);
      moving.delete(timer);
      tellMoved?.();
    });
  }
};
const stopTimers = () => {
  for (const [id, timer] of moving) {
    clearTimeout(timer ?? id);
    clearImmediate(timer ?? id);
  }
};
const stillness = async () => {
  stopping.enable();
  while ([...moving.values()].some(isMoving)) {
    await new Promise((resolve) => {
      tellMoved = resolve;
    });
    tellMoved = null;
    await new Promise((resolve) => setImmediate(resolve));
  }
  stopping.disable();
};

const quietly = (act) => {
  const { emitWarning } = process;
  process.emitWarning = () => {}; // That something is experimental is not the code's doing.
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
};
// What files beside this one do, which are loaded when a cell first needs them.
const withoutTypes = (code) => (TYPED && !Bun ? require('./types.cjs')(code, folder, quietly) : code);
const withImports = (code) => (/\bimport\b/.test(code) ? require('./imports.cjs').calls(code, IMPORT) : code);
const withDeclarations = (code) =>
  /\bimport\b/.test(code) ? require('./imports.cjs').declarations(code, IMPORT) : code;

let folder = null;
// The path of the script that runs, if one does.
let script = null;
const here = () => script ?? path.join(folder, 'cell.js');
// Packages of the folder, which stand behind those of the project.
const PACKAGES = process.env.NODE_PATH ? path.dirname(process.env.NODE_PATH.split(':')[0]) : null;
const load = async (specifier, options) => {
  try {
    return await loadFrom(here(), specifier, options);
  } catch (error) {
    const bare = !/^\.{0,2}\/|:/.test(specifier);
    if (!PACKAGES || !bare || error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    try {
      return await loadFrom(path.join(PACKAGES, 'cell.js'), specifier, options);
    } catch (second) {
      throw second?.code === 'ERR_MODULE_NOT_FOUND' ? error : second;
    }
  }
};
// The meaning of a specifier in a file, as `require` finds it: packages for `import` only are not found,
// and neither are those that are not there; then `import` says so.
const foundFrom = (place, specifier) => {
  if (/^\.{0,2}\//.test(specifier)) return new URL(specifier, url.pathToFileURL(place)).href;
  if (specifier.includes(':') || Module.builtinModules.includes(specifier)) return specifier;
  try {
    return url.pathToFileURL(Module.createRequire(place).resolve(specifier)).href;
  } catch {
    return specifier;
  }
};
const loadFrom = (place, specifier, options) => {
  if (Bun) return import(Bun.resolveSync(`${specifier}`, folder));
  const loader = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  if (!loader) {
    // Versions before it look for packages beside this file only.
    return quietly(() => import(foundFrom(place, specifier), options));
  }
  const settings = { filename: place, importModuleDynamically: loader };
  const call = vm.compileFunction('return import(a, b)', ['a', 'b'], settings);
  return quietly(() => call(specifier, options));
};
// Errors of syntax that are not the cell's own.
const atRun = new WeakSet();
const importHere = async (specifier, options, wanted = []) => {
  const found = await load(specifier, options);
  const missing = wanted.find((name) => !(name in found));
  if (missing === undefined) return found;
  const error = new SyntaxError(`The requested module '${specifier}' does not provide an export named '${missing}'`);
  atRun.add(error);
  throw error;
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
  if (!Bun) load.main = main;
  define('require', load);
  define('module', main);
  define('exports', main.exports);
  define('__filename', here());
  define('__dirname', path.dirname(here()));
};
const takeWords = (words) => {
  const [name, file, ...args] = words;
  process.argv = [process.argv[0], ...(file ? [file] : []), ...args];
  script = file || null;
  if (script) folder = null;
};

const NOT_THE_CODES = /\(node:inspector:|node:internal\/process\/task_queues|ext:(?:deno_node|core)\//;
const OWN = [__filename, path.join(__dirname, 'imports.cjs'), path.join(__dirname, 'types.cjs')];
// An error's text, without the frames by which this file called the code.
const inspectError = (error) => {
  // The lines that Bun counts are those of what it made of the code.
  if (Bun && error instanceof Error) return `${error.name}: ${error.message}`;
  const kept = [];
  let skipping = false;
  for (const line of util.inspect(error).split('\n')) {
    const ours = NOT_THE_CODES.test(line) || OWN.some((file) => line.includes(file));
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
// Which paths the system refused, by its own name for why and not by any words.
const tellRefused = (error) => {
  for (let depth = 0; error instanceof Error && depth < 8; depth += 1, error = error.cause) {
    const { code } = error;
    for (const at of [error.path, error.dest]) {
      if (typeof code === 'string' && typeof at === 'string') {
        claim({ kind: 'refused', code: text(code), path: text(path.resolve(at)) });
      }
    }
  }
};
const raise = (error, place) => {
  fail(error, place);
  try {
    tellRefused(error);
  } catch {
    // The code broke what this needs: then nothing more is told.
  }
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

// Deno must not exit while its inspector is at work: it leaves the cell first.
let left = null;
let inspecting = false;
const leaveLater = () => {
  const leave = (status) => {
    if (!inspecting) exit(status);
    left = { status };
    throw left;
  };
  process.exit = leave;
  Deno.exit = leave;
};

const starter = new vm.Script(`globalThis[Symbol.for('${START.description}')]()`);
const evaluate = (name, code) =>
  new Promise((resolve, reject) => {
    const parameters = {
      expression: `${withImports(withDeclarations(withoutTypes(code)))}\n//# sourceURL=${name}`,
      replMode: true,
      awaitPromise: true,
      objectGroup: name,
    };
    const value = () => {
      inspecting = true;
      session.post('Runtime.evaluate', parameters, (error, answer) =>
        error ? reject(error) : resolve(answer));
      inspecting = false;
    };
    Object.defineProperty(globalThis, START, { value, configurable: true });
    try {
      // Only inside such a script can a signal stop a loop that never returns. Node takes our listener
      // away for it and gives it back after it: a signal in those microseconds ends the kernel.
      starter.runInThisContext({ breakOnSigint: true });
    } catch (error) {
      if (error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') cell.interrupt();
      else reject(error);
    }
  });

// A timer that was set is nobody's answer, and a script shows no value by itself.
const show = (value) => {
  if (value === undefined || script !== null || [...moving.values()].some((timer) => timer === value && timer !== null)) return;
  claim({ kind: 'result', bundle: { 'text/plain': text(util.inspect(value)) } });
};

const bun = Bun && require('./bun.cjs');
const compiler = bun?.compiler(TYPED ? 'ts' : 'js');
const runByCompiler = async (name, code) => {
  const own = cell;
  try {
    const value = await bun.evaluate(name, withImports(compiler.transformSync(code)));
    if (!own.interrupted) show(value);
  } catch (error) {
    if (own.interrupted) return;
    const mistake = bun.mistake(error);
    if (mistake) raise(mistake.error, placeOf(name, code, mistake.place));
    else raise(error);
  }
};

const runCode = async (name, code) => {
  const own = cell;
  const { result, exceptionDetails: details } = await evaluate(name, code);
  if (left) exit(left.status);
  if (own.interrupted) return;
  if (details) {
    const error = take(details.exception);
    const compiling = details.scriptId !== undefined && error instanceof SyntaxError && !atRun.has(error);
    raise(error, compiling ? placeOf(name, code, details) : '');
    return;
  }
  let { value } = result;
  // Only what is no JSON was kept there, to be handed over.
  if (result.objectId !== undefined || result.unserializableValue !== undefined) {
    value = take(result);
    session.post('Runtime.releaseObjectGroup', { objectGroup: name });
  }
  try {
    // A promise that is left over is waited for: `main()` ends when what it does has ended.
    if (util.types.isPromise(value)) value = await value;
    if (!own.interrupted) show(value);
  } catch (error) {
    if (!own.interrupted) raise(error);
  }
};

// Whether the cell before was interrupted: maybe more than once, and Node tells of a signal only later.
let wasInterrupted = false;
// Node counts the signals that come while it stops a script, and stops the next one by those that are
// left. An endless script takes them first.
const endless = new vm.Script('for (;;);');
const forgetSignals = () => {
  if (Bun || Deno) return;
  for (let most = 8; most > 0; most -= 1) {
    try {
      endless.runInThisContext({ breakOnSigint: true, timeout: 30 });
    } catch (error) {
      if (error.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') return;
    }
  }
};
const runCell = async (name, code) => {
  if (wasInterrupted) forgetSignals();
  // Signals that were meant for the cell before arrive here, where they are nobody's.
  for (let turns = wasInterrupted ? 2 : 0; turns > 0; turns -= 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  enterFolder();
  if (READS_FILE) rewind();
  moving = new Map();
  motion.enable();
  const interrupted = new Promise((resolve) => {
    const interrupt = () => {
      cell.interrupted = true;
      resolve();
    };
    cell = { failed: false, interrupted: false, interrupt };
  });
  const run = (Bun ? runByCompiler : runCode)(name, code).then(stillness);
  await Promise.race([run.catch((error) => raise(error)), interrupted]);
  motion.disable();
  stopping.disable();
  if (cell.interrupted) stopTimers();
  // Rejections that nobody handled are told only now.
  await new Promise((resolve) => setImmediate(resolve));
  const status = cell.interrupted ? 130 : Number(cell.failed);
  wasInterrupted = cell.interrupted;
  cell = null;
  claim({ kind: 'finished', status });
};

// Runs a script until nothing is left to wait for, as `node FILE ARGUMENTS` does; then the
// interpreter ends. It is not read again: the file may have changed since somebody looked at it.
const runScript = async (code) => {
  enterFolder();
  // Only Node says when it has nothing more to do.
  const tells = control !== null && !Deno;
  const ended = new Promise((resolve) => {
    const interrupt = () => {
      cell.interrupted = true;
      resolve();
    };
    cell = { failed: false, interrupted: false, interrupt };
    if (!tells) return;
    process.once('beforeExit', resolve);
    control.unref();
  });
  const name = /\s/.test(script) ? url.pathToFileURL(script).href : script;
  const run = (Bun ? runByCompiler : runCode)(name, code).catch((error) => raise(error));
  const rest = () => (cell.failed ? null : tells ? ended : stillness());
  await Promise.race([run.then(rest), ended]);
  if (cell.interrupted) exit(130);
  exit(cell.failed ? 1 : process.exitCode ?? 0);
};

// What comes in on the control socket. Its own iterator takes several turns of the loop for each piece.
async function* receive() {
  const pieces = [];
  let wake = null;
  const arrive = (piece) => {
    pieces.push(piece);
    wake?.();
  };
  control.on('data', arrive).on('end', () => arrive(null));
  for (;;) {
    while (pieces.length > 0) {
      const piece = pieces.shift();
      if (piece === null) return;
      yield piece;
    }
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
}

const main = async () => {
  let pieces = [];
  let size = 0;
  let needed = 1;
  let count = 0;
  for await (const piece of bun ? bun.receive(3) : receive()) {
    pieces.push(piece);
    size += piece.length;
    while (size >= needed) {
      const received = Buffer.concat(pieces);
      pieces = [received];
      const start = received.indexOf('\n') + 1;
      const head = received.toString('latin1', 0, start);
      const words = head.startsWith('@');
      const end = start + Number(words ? head.slice(1, head.indexOf(' ')) : head);
      needed = start === 0 ? size + 1 : end;
      if (size < needed) break;
      const code = received.toString('utf8', start, end);
      pieces = [received.subarray(end)];
      size -= end;
      needed = 1;
      if (words) {
        takeWords(code.split('\0').slice(0, -1));
        continue;
      }
      count += 1;
      if (script === null) await runCell(`cell-${count}`, code);
      else await runScript(code);
    }
  }
};

process.on('SIGINT', () => cell?.interrupt());
const failUnhandled = (error) => {
  fail(error);
  if (script !== null) exit(1);
};
process.on('uncaughtException', failUnhandled);
process.on('unhandledRejection', failUnhandled);
if (session) connect();
const globals = ['(name) => globalThis[name]', '(name, value) => { globalThis[name] = value; }'];
if (Bun) watchTimers(...globals.map((code) => (0, eval)(code)));
if (Deno) {
  // Modules have timers of their own there; those of the code are reached by code.
  leaveLater();
  holder.watch = watchTimers;
  const start = `globalThis[Symbol.for('${START.description}')]`;
  session.post('Runtime.evaluate', { expression: `${start}.watch(${globals.join(', ')})` });
}
defineOutputs();
defineLibraries();
Object.defineProperty(globalThis, IMPORT, { value: importHere });
claim({ kind: 'ready', version: Bun?.version ?? Deno?.version.deno ?? process.versions.node });
main().then(() => exit(0), (error) => {
  print(`the kernel ends: ${util.inspect(error)}\n`);
  exit(1);
});
