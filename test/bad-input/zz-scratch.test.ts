import { it } from 'vitest';
import { openaiChat, anthropic } from '../../src/index.js';
import { watchBranch, loose, utf8 } from './support.js';
import { StemmaError } from '../../src/index.js';

const show = async (name: string, run: () => unknown) => {
  try {
    const v = await run();
    console.log(name, '->', JSON.stringify(v)?.slice(0, 1400));
  } catch (e) {
    console.log(name, '!!', e instanceof StemmaError ? JSON.stringify(e.data).slice(0, 400) : e);
  }
};
it('scratch', async () => {
  const w = await watchBranch();
  const { stemma, branch: b } = w;
  await b.append({ id: 'm', role: 'user', content: 'a\ud800b' });
  await b.append({ id: 'm0', role: 'user', content: 'a\u0000b find-me' });
  await b.append({ id: 'mb', role: 'user', content: '\u202Eabc\u200b\u{E0041}' });
  const p = await b.preview({ profile: openaiChat({ model: 'm' }) });
  await show('body', () => p.body);
  await show('repairs', () => [p.repairs, p.warnings]);
  await show('plan', () => p);
  await show('search', () => stemma.search('find-me'));
  await show('search nul', () => stemma.search('a\u0000b'));
  await show('search sur', () => stemma.search('a\ud800b'));
  await show('strict', () =>
    b.preview({ profile: openaiChat({ model: 'm' }), policy: { strict: true } }),
  );
  const t0 = performance.now();
  await show('10MB', () => b.append({ id: 'big', role: 'user', content: 'x'.repeat(10_000_000) }));
  console.log('took', performance.now() - t0);
  await show('17MB', () => b.append({ id: 'big2', role: 'user', content: 'é'.repeat(8_388_608) }));
  const t1 = performance.now();
  await show('history', async () => (await b.surface()).items.length);
  console.log('took', performance.now() - t1);
  const lines: string[] = [];
  for await (const l of stemma.export('conversation')) lines.push(l);
  const other = await watchBranch();
  const res = await other.stemma.import(utf8(lines.join('\n')));
  await show('imp', () => res.appended);
  const imported = await other.stemma.open((await stemma.resolve('conversation')).conversation);
  await show('imp surface', async () =>
    (await imported.surface()).items.map((i) => JSON.stringify(i.message.blocks).length),
  );
  await show('bom', () =>
    stemma.import(utf8('\uFEFF[{"role":"user","content":"\uFEFFhi"}]'), { dryRun: true }),
  );
  await show('utf8', () => stemma.import(new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d])));
  await show('utf8 2nd line', () =>
    stemma.import(
      new Uint8Array([...utf8('[{"role":"user",\n"content":"'), 0xc3, 0x28, ...utf8('"}]')]),
    ),
  );
});
