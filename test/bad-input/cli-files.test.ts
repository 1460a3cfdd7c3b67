import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { newPlace, textAt, type Place } from '../infra/cli/cli-run.js';
import { imageOf, refusedBy, SECRET, titled, type Refusal } from './cli-support.js';

let place: Place;
beforeEach(async () => {
  place = newPlace();
  await place.json('new', '--id', 'c');
  await place.json('append', 'c', '--id', 'u-1', '--text', 'hello');
});

const image = (): Promise<unknown> => imageOf(place);

const refused = (argv: readonly string[], stdin?: string): Promise<Refusal> =>
  refusedBy(place, argv, stdin);

describe('files', () => {
  const lines = async (): Promise<string> => (await place.cli(['export', 'c'])).out;

  it.each(
    titled<[string, string, string, number]>([
      [
        'B58',
        '{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"x"}}\n{"type":"user","uu',
        'TruncatedInput',
        5,
      ],
      ['B58', `[{"role":"user","content":"${SECRET}`, 'TruncatedInput', 5],
      [
        'B60',
        JSON.stringify({ contents: [{ role: 'user', parts: [{ text: SECRET }] }] }),
        'InvalidShape',
        5,
      ],
      ['B02', '', 'InvalidShape', 5],
      ['B24', `[{"role":"admin","content":"${SECRET}"}]`, 'InvalidShape', 5],
    ]),
  )('%s as a file', async (_title, _row, text, code, exit) => {
    place.write('in.json', text);
    expect(await refused(['import', 'in.json'])).toMatchObject({ code, exit });
  });

  it('B60 refuses a file of another format with a suggestion', async () => {
    place.write(
      'in.json',
      JSON.stringify({ contents: [{ role: 'user', parts: [{ text: SECRET }] }] }),
    );
    expect(await refused(['import', 'in.json', '--from', 'openai-chat'])).toMatchObject({
      code: 'ProfileMismatch',
      exit: 5,
      data: { profile: 'openai-chat', suggestion: 'gemini' },
    });
  });

  it('B58 refuses a cut export, and B59 takes a whole one twice without an event', async () => {
    const all = await lines();
    place.write('cut.jsonl', all.slice(0, -30));
    expect(await refused(['import', 'cut.jsonl'])).toMatchObject({ code: 'TruncatedInput' });
    place.write('whole.jsonl', all);
    const before = await image();
    const [first] = [await place.json('import', 'whole.jsonl')];
    expect(JSON.stringify(first)).toContain('"appended":0');
    expect(await image()).toEqual(before);
  });

  it('B62 does not overwrite a file without a flag, and leaves nothing half written', async () => {
    place.write('out.jsonl', 'mine');
    const told = await refused(['export', 'c', '-o', 'out.jsonl']);
    expect(told).toMatchObject({ code: 'TargetExists', exit: 4, data: { path: 'out.jsonl' } });
    expect(fs.readFileSync(path.join(place.folder, 'out.jsonl'), 'utf8')).toBe('mine');
    const written = await place.json('export', 'c', '-o', 'out.jsonl', '--force');
    expect(textAt(written, 'format')).toBe('jsonl');
    expect(fs.readFileSync(path.join(place.folder, 'out.jsonl'), 'utf8')).toBe(await lines());
    expect(fs.readdirSync(place.folder).sort()).toEqual(['.stemma', 'out.jsonl']);
  });

  it.each<[string, string, string, number, object]>([
    ['a directory', 'folder.jsonl', 'TargetUnwritable', 1, { reason: 'directory' }],
    [
      'a path without a folder',
      'no/such/folder.jsonl',
      'TargetUnwritable',
      1,
      { reason: 'no_parent' },
    ],
    ['a path through a file', 'file/x.jsonl', 'TargetUnwritable', 1, { reason: 'no_parent' }],
    ['a dangling link', 'link.jsonl', 'TargetExists', 4, {}],
    ['an unknown ending', 'x.docx', 'InvalidArgument', 2, { name: 'output' }],
  ])('B62 refuses to export to %s', async (_what, target, code, exit, data) => {
    fs.mkdirSync(path.join(place.folder, 'folder.jsonl'));
    place.write('file', 'x');
    fs.symlinkSync(path.join(place.folder, 'nowhere'), path.join(place.folder, 'link.jsonl'));
    const before = fs.readdirSync(place.folder).sort();
    const told = await refused(['export', 'c', '-o', target]);
    expect(told).toMatchObject({ code, exit, data });
    expect(fs.readdirSync(place.folder).sort()).toEqual(before);
  });

  it('B46 refuses stores that are none, by flag, and leaves them as they are', async () => {
    place.write('random.db', 'hello');
    place.write('empty.db', '');
    fs.mkdirSync(path.join(place.folder, 'folder.db'));
    for (const [name, found] of [
      ['random.db', 'random'],
      ['empty.db', 'empty'],
    ] as const) {
      const before = fs.readFileSync(path.join(place.folder, name));
      for (const argv of [
        ['history', 'c'],
        ['append', 'c', '--text', SECRET],
      ]) {
        expect(await refused([...argv, '--store', name])).toMatchObject({
          code: 'NotAStore',
          exit: 6,
          data: { found },
        });
      }
      expect(fs.readFileSync(path.join(place.folder, name))).toEqual(before);
    }
  });
});
