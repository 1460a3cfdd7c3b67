// node scripts/run.mjs NAME [ARGUMENT ...]: runs NAME.ts of prove/ or harness/ in compiled form.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compileIfChanged, harness, root } from './compile.mjs';

/**
 * npm changes to the package folder before it runs a script and leaves the caller's folder in
 * INIT_CWD. Started in any other way, the current folder is the caller's.
 */
const callerFolder = () => {
  const initial = process.env['INIT_CWD'];
  return process.cwd() === root && initial !== undefined ? initial : process.cwd();
};

/** @type {(entry: string, args: string[]) => void} */
const run = (entry, args) => {
  const child = spawn(process.execPath, ['--enable-source-maps', entry, ...args], {
    cwd: callerFolder(),
    stdio: 'inherit',
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 128 + os.constants.signals[signal];
  });
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined) {
  process.stderr.write('usage: node scripts/run.mjs NAME [ARGUMENT ...]\n');
  process.exitCode = 1;
} else {
  if (!compileIfChanged(harness)) {
    process.stderr.write('warning: the sources do not compile cleanly; running what was written\n');
  }
  const entry = path.join(root, '.build', `${name}.js`);
  if (fs.existsSync(entry)) run(entry, args);
  else {
    process.stderr.write(`there is no ${name}.ts\n`);
    process.exitCode = 1;
  }
}
