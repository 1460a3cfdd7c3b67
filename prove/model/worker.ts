import { parentPort, workerData } from 'node:worker_threads';
import { runShare, type Share } from './share.js';

const result = await runShare(workerData as Share);
parentPort?.postMessage(result);
