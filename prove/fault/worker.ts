import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ordersEnv } from './orders.js';

/** The files of this folder that run as processes of their own, in compiled form. */
const files = {
  'append-worker': new URL('./append-worker.js', import.meta.url),
  driver: new URL('./driver.js', import.meta.url),
  'feed-worker': new URL('./feed-worker.js', import.meta.url),
  'flip-worker': new URL('./flip-worker.js', import.meta.url),
  'io-worker': new URL('./io-worker.js', import.meta.url),
  'power-worker': new URL('./power-worker.js', import.meta.url),
} as const;

export type WorkerName = keyof typeof files;

export interface WorkerOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

/** Arguments of Node for a worker; it may ask for its garbage to be collected. */
export const workerArguments = (name: WorkerName): readonly string[] => [
  '--enable-source-maps',
  '--expose-gc',
  fileURLToPath(files[name]),
];

/**
 * Runs a worker to its end and gives its lines. Throws, with what it wrote to its error output,
 * when it did not end well: then the rig is broken, whatever the store does.
 */
export const runWorker = (
  name: WorkerName,
  orders: object,
  { env = {}, onLine }: WorkerOptions = {},
): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, workerArguments(name), {
      env: { ...process.env, ...env, ...ordersEnv(orders) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    let errors = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (onLine === undefined) lines.push(line);
      else onLine(line);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(lines);
      else reject(new Error(`${name} ended with ${String(code ?? signal)}: ${errors}`));
    });
  });

/** Runs a worker whose every line is JSON of this shape. */
export const runReporter = async <R>(
  name: WorkerName,
  orders: object,
  options: Pick<WorkerOptions, 'env'> = {},
): Promise<readonly R[]> =>
  (await runWorker(name, orders, options)).map((line) => JSON.parse(line) as R);
