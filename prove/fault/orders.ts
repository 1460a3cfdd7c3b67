import type { AckTime } from './acks.js';

const VARIABLE = 'STEMMA_PROVE_ORDERS';

/** What a driver is to do. */
export interface Orders {
  readonly store: string;
  readonly seed: number;
  readonly name: string;
  readonly steps: number;
  readonly sync: 'full' | 'normal';
  readonly ackTime: AckTime;
  /** A file for what is told; absent: the standard output. */
  readonly acks?: string;
}

export const ordersEnv = (orders: object): Readonly<Record<string, string>> => ({
  [VARIABLE]: JSON.stringify(orders),
});

/** The orders that the parent of this process gave. */
export const readOrders = (): unknown => JSON.parse(process.env[VARIABLE] ?? '{}');
