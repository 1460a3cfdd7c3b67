import type { JsonObject } from '../../../domain/json-value.js';

/** A record of the file under its parent. */
export interface LinkedRecord {
  readonly id: string;
  /** Absent for a root. */
  readonly parent?: string;
  readonly line: number;
  /** The line, word for word. */
  readonly text: string;
  readonly value: JsonObject;
  readonly isMessage: boolean;
}
