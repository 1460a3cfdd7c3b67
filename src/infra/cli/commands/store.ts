import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { describeFault } from '../../../domain/error-table.js';
import type { StemmaFault } from '../../../domain/errors.js';
import { StemmaError } from '../../../face/stemma-error.js';
import { refuse } from '../faults.js';
import type { Invocation, Register, StoreFacts } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { listing } from '../show.js';

const backup = async (call: Invocation): Promise<Result> => {
  const { root, settings, io, look, args } = call;
  const name = args[0] ?? '';
  const done = await root.backup(settings.store, path.resolve(io.cwd, name))();
  if (E.isLeft(done)) return refuse(done.left);
  const target = path.resolve(io.cwd, name);
  const bytes = fs.statSync(target).size;
  const { text, number } = look.words;
  return {
    name: 'backup',
    data: { path: target, bytes },
    text: () => `${text.wrote(name, number(bytes))}\n${text.keysApart}`,
  };
};

interface Check {
  readonly name: string;
  readonly state: 'ok' | 'note' | 'bad';
  readonly value: string;
  readonly fault?: StemmaFault;
}

const MODE = 0o777;

/** Whether others of this machine may read a file that holds secrets or conversations. */
const modeCheck = (name: string, file: string): readonly Check[] => {
  const stats = fs.statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || process.platform === 'win32') return [];
  const mode = (stats.mode & MODE).toString(8);
  const isPrivate = (stats.mode & 0o077) === 0;
  return [{ name, state: isPrivate ? 'ok' : 'note', value: `${mode}  ${file}` }];
};

const faultCheck = (name: string, fault: StemmaFault, state: Check['state']): Check => ({
  name,
  state,
  value: `${fault._tag}  ${describeFault(fault).message}`,
  fault,
});

const storeChecks = ({ file, storeId, warnings, fault }: StoreFacts): readonly Check[] => [
  fault === undefined
    ? { name: 'store', state: 'ok', value: `${file}  ${storeId ?? ''}` }
    : faultCheck('store', fault, 'bad'),
  ...warnings.map((warning) => faultCheck('filesystem', warning, 'note')),
  ...modeCheck('store.mode', file),
  ...modeCheck('keys.mode', path.join(path.dirname(file), 'keys')),
];

const tenantCheck = async (call: Invocation): Promise<Check> => {
  const name = 'tenant';
  try {
    const conversations = await (await call.reader()).conversations();
    const tenant = call.settings.tenant ?? 'default';
    return { name, state: 'ok', value: `${tenant}  ${String(conversations.length)}` };
  } catch (error) {
    if (error instanceof StemmaError) return faultCheck(name, error.data, 'bad');
    throw error;
  }
};

const stateWord = (state: Check['state'], { words: { text } }: Look): string => {
  if (state === 'ok') return text.fine;
  return state === 'note' ? text.note : text.bad;
};

const doctor = async (call: Invocation): Promise<Result> => {
  const { root, settings, look, io } = call;
  const facts = await root.lookAt(settings.store);
  const checks: readonly Check[] = [
    { name: 'stemma', state: 'ok', value: root.version },
    { name: 'node', state: 'ok', value: `${process.version}  ${process.platform}` },
    {
      name: 'config',
      state: 'ok',
      value: settings.configFile ?? '',
    },
    { name: 'store.from', state: 'ok', value: settings.storeFrom },
    { name: 'language', state: 'ok', value: look.words.language },
    {
      name: 'terminal',
      state: 'ok',
      value: io.stdout.isTTY ? String(io.stdout.columns ?? 0) : '',
    },
    ...storeChecks(facts),
    ...(facts.fault === undefined ? [await tenantCheck(call)] : []),
  ];
  const bad = checks.find(({ state }) => state === 'bad');
  const { text } = look.words;
  return {
    name: 'doctor',
    data: { ok: bad === undefined, checks },
    rows: 'checks',
    text: () =>
      listing(
        look,
        [{ header: '' }, { header: text.checkName }, { header: text.value }],
        checks.map(({ name, state, value }) => [
          stateWord(state, look),
          name,
          value === '' ? text.none : value,
        ]),
      ),
    ...(bad?.fault === undefined ? {} : { exit: describeFault(bad.fault).exit }),
  };
};

export const storeCommands: Register = ({ program, add }) => {
  add(program, { use: 'backup <file>', key: 'backup', run: backup });
  add(program, { use: 'doctor', key: 'doctor', run: doctor });
};
