import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { idOf } from '../../../harness/cases/read-case.js';
import { runCase } from '../../../harness/cases/run-case.js';
import { casesIn } from '../../../harness/cases/run-file.js';

const load = (name: string): readonly unknown[] =>
  casesIn(fs.readFileSync(new URL(`../../cases/${name}`, import.meta.url), 'utf8'));

const skipped: Readonly<Record<string, string>> = {
  V02: 'profile openai-responses comes later',
  V06: 'profile openai-responses comes later',
  V07: 'profile gemini comes later',
  V09: 'profile openai-compatible-strict comes later',
  V10: 'profile openai-compatible-strict comes later',
  V11: 'profile gemini comes later',
  V15: 'profile openai-compatible-strict comes later',
  V16: 'profile openai-compatible-strict comes later',
  V20: 'profile openai-responses comes later',
  V21: 'profile deepseek comes later',
  V22: 'profile gemini comes later',
  V33: 'importer chatgpt-export comes later',
  V39: 'operation redact comes later',
};

const named = (name: string): readonly (readonly [string, unknown])[] =>
  load(name).map((one, index) => [idOf(one, index), one] as const);

describe('the cases of message-cases.json', () => {
  it.each(named('message-cases.json'))(
    '%s',
    async (id, one) => {
      const later = skipped[id.slice(0, 3)];
      const verdict = await runCase(one, ['memory']);
      expect(verdict).toEqual(later === undefined ? { _tag: 'ok' } : { _tag: 'skip', why: later });
    },
    120_000,
  );
});

describe('the cases of further-cases.json', () => {
  it.each(named('further-cases.json'))(
    '%s',
    async (_id, one) => {
      expect(await runCase(one, ['memory'])).toEqual({ _tag: 'ok' });
    },
    60_000,
  );
});
