// npm start: builds what is missing, plays the demo into ./.stemma once, and shows what came of it.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileIfChanged, library, root } from './compile.mjs';

/**
 * The part of the command line that is used here.
 * @typedef {{ write: (text: string) => void, isTTY: boolean, columns?: number }} Output
 * @typedef {{ argv: string[], env: NodeJS.ProcessEnv, cwd: string, stdin: () => AsyncIterable<Uint8Array>, stdout: Output, stderr: Output, signal: AbortSignal }} Io
 * @typedef {{ main: (io: Io) => Promise<number> }} Cli
 */

/** @type {(stream: NodeJS.WriteStream) => Output} */
const outputOf = (stream) => ({
  write: (text) => {
    stream.write(text);
  },
  isTTY: stream.isTTY,
  ...(stream.isTTY ? { columns: stream.columns } : {}),
});

/** @type {(cli: Cli, argv: string[]) => Promise<void>} */
const run = async (cli, argv) => {
  process.stdout.write(`\n$ stemma ${argv.join(' ')}\n`);
  const code = await cli.main({
    argv: [...argv, '--store', path.join(root, '.stemma')],
    env: process.env,
    cwd: root,
    stdin: () => process.stdin,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    signal: stop.signal,
  });
  if (code !== 0) {
    process.exitCode = code;
    throw new Error(`stemma ${argv.join(' ')} ended with ${String(code)}`);
  }
};

const stop = new AbortController();
process.once('SIGINT', () => {
  stop.abort();
});
// Whoever reads along may stop reading: `npm start | head`.
process.stdout.on('error', () => process.exit());

if (!compileIfChanged(library)) {
  process.stderr.write('warning: the sources do not compile cleanly; running what was written\n');
}
/** @type {(name: string) => Promise<any>} */
const load = (name) => import(pathToFileURL(path.join(root, 'dist/infra/cli', name)).href);
/** @type {Cli} */
const cli = await load('main.js');
const { languageOf } = await load('settings.js');
const demo = languageOf([], process.env, root) === 'zh' ? 'demo-zh' : 'demo';
try {
  await run(cli, ['demo']);
  await run(cli, ['history', demo]);
  await run(cli, ['context', demo, '--budget', '2000', '--why']);
  await run(cli, ['diff', `${demo}/main`, `${demo}/retry`]);
  await run(cli, ['verify', demo]);
  process.stdout.write(
    '\nNow with a transcript of your own:\n  npx stemma import ~/.claude/projects/…/session.jsonl\n',
  );
} catch (fault) {
  process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode ||= 1;
}
