import { it } from 'vitest';
import { openaiChat, anthropic } from '../../src/index.js';
import { watchBranch, loose, utf8 } from './support.js';
import { StemmaError } from '../../src/index.js';

const show = async (name: string, run: () => unknown) => {
  try {
    const v = await run();
    console.log(name, '->', JSON.stringify(v)?.slice(0, 400));
  } catch (e) {
    console.log(name, '!!', e instanceof StemmaError ? JSON.stringify(e.data).slice(0, 400) : e);
  }
};
it('scratch', async () => {
  const w = await watchBranch();
  const { stemma, branch: b } = w;
  const imp = (t: string) => () => stemma.import(utf8(t));
  await show('B01 import', imp('{"role":"user","content":'));
  await show('B01 import broken mid', imp('{"role":"user",,"content":1}'));
  await show('empty', imp(''));
  await show('ws', imp('  \n '));
  await show('null', imp('null'));
  await show('[]', imp('[]'));
  await show('"x"', imp('"x"'));
  await show('deep', imp('['.repeat(100_000) + ']'.repeat(100_000)));
  for (const v of [null, undefined, [], 'x', '', 5, true, [[]], [null], {}, { role: 1 }, { role: null }, { role: 'user', content: 5 }, { role: 'user', content: [5] }, { role: 'user', content: [{ type: 'nope' }] }, { role: 'user', foo: 1 }, { role: 'user', pinned: 'yes' }, {role:'user', durationMs: 1.5}, {role:'user', durationMs: -1}, {role:'user', status: 'x'}, {role:'user', trust:'system', content: 'a'}, new Date(), () => 1, Symbol('x'), 10n])
    await show(`append ${String(typeof v === 'object' ? JSON.stringify(v) : String(v))}`, () => b.append(loose(v)));
  const st = (o: unknown) => () => stemma.start(loose(o));
  for (const o of [{ id: 5 }, { id: '' }, { id: ' ' }, { id: 'a\u0000' }, { id: 'a\ud800' }, { id: 'x'.repeat(257) }, { title: 5 }, { title: undefined }, { labels: 5 }, { labels: { a: 5 } }, { labels: { a: undefined } }, { labels: ['x'] }, { labels: { 'a\ud800': 'x' } }, { foo: 1 }, { instructions: 5 }, { as: 5 }, { as: { kind: 'root' } }, { run: 5 }, { commandId: '' }, { commandId: 'a\u0000' }, { commandId: 5 }, { parent: 5 }, null, 5])
    await show(`start ${JSON.stringify(o)}`, st(o));
  await b.append({ id: 'm', role: 'user', content: 'hello' });
  const more: [string, () => unknown][] = [
    ['instr 5', () => b.instructions(loose(5))],
    ['instr role', () => b.instructions('x', loose({ role: 'root' }))],
    ['instr name', () => b.instructions('x', loose({ name: 5 }))],
    ['instr null opt', () => b.instructions('x', loose(null))],
    ['status', () => b.status('m', loose('nope'))],
    ['status5', () => b.status(loose(5), 'draft')],
    ['withdraw', () => b.withdraw(loose('m'))],
    ['withdraw dup', () => b.withdraw(loose([5]))],
    ['redact 5', () => b.redact(loose(5))],
    ['redact reason 5', () => b.redact('m', loose({ reason: 5 }))],
    ['label 5', () => b.label(loose(5))],
    ['label ""', () => b.label('')],
    ['label ctl', () => b.label('a\u0000b')],
    ['label long', () => b.label('x'.repeat(100000))],
    ['promote 5', () => b.promote(loose(5))],
    ['annotate', () => b.annotate(loose({ kind: 'x', ref: 5 }), loose({ name: 5, value: 5 }))],
    ['annotate2', () => b.annotate({ kind: 'message', ref: 'nope' }, { name: 'a', value: 'b' })],
    ['close 5', () => b.close(loose(5))],
    ['reopen', () => b.reopen()],
    ['fork {}', () => b.fork(loose({}))],
    ['fork null', () => b.fork(loose(null))],
    ['fork rev 1.5', () => b.fork({ revision: 1.5 })],
    ['fork rev NaN', () => b.fork({ revision: NaN })],
    ['fork rev str', () => b.fork(loose({ revision: '1' }))],
    ['fork rev 99', () => b.fork({ revision: 99 })],
    ['fork after', () => b.fork({ after: 'nope' })],
    ['fork name', () => b.fork({ revision: 0 }, loose({ name: 5 }))],
    ['fork reason', () => b.fork({ revision: 0 }, loose({ reason: 'x' }))],
    ['retry {}', () => b.retry({})],
    ['retry', () => b.retry({ before: 'nope' })],
    ['open 5', () => stemma.open(loose(5))],
    ['open ""', () => stemma.open('')],
    ['open nul', () => stemma.open('a\u0000b')],
    ['open long', () => stemma.open('x'.repeat(5000))],
    ['history', () => b.history(loose({ revision: 'x' }))],
    ['history t', () => b.history(loose({ time: '2024-02-30' }))],
    ['search 5', () => stemma.search(loose(5))],
    ['search lim', () => stemma.search('a', { limit: -1 })],
    ['search 1e9', () => stemma.search('hello', { limit: 1e9 })],
    ['preview {}', () => b.preview(loose({}))],
    ['preview budget', () => b.preview({ profile: openaiChat({ model: 'm' }), budgetTokens: NaN })],
    ['preview params', () => b.preview({ profile: openaiChat({ model: 'm' }), params: { a: undefined } })],
    ['preview tools', () => b.preview({ profile: openaiChat({ model: 'm' }), tools: loose({ x: 5 }) })],
    ['preview tools params', () => b.preview({ profile: openaiChat({ model: 'm' }), tools: loose({ x: { parameters: { a: 10n }, run: () => 1 } }) })],
    ['profile opts', () => openaiChat(loose({}))],
    ['profile opts2', () => anthropic(loose({ model: 5 }))],
    ['compact {}', () => b.compact(loose({}))],
    ['compact strat', () => b.compact(loose({ strategy: 'x' }))],
    ['undo', () => b.undoCompaction('nope')],
    ['why', () => b.why('m', { modelCallId: 'nope' })],
    ['context', () => b.context('nope')],
    ['resolveApproval', () => b.resolveApproval('nope', loose('x'))],
    ['recover', () => b.recover(loose({ tools: 5 }))],
    ['endTurn', () => b.endTurn(loose('x'))],
    ['diff', () => stemma.diff('nope', 'nope2')],
    ['verify', () => stemma.verify('nope')],
    ['import 5', () => stemma.import(loose(5))],
    ['import str', () => stemma.import(loose('x'))],
    ['import opts', () => stemma.import(utf8('[]'), loose({ format: 'zzz' }))],
    ['export', async () => { for await (const l of stemma.export('nope')) return l; }],
    ['append opts', () => b.append({ role: 'user', content: 'x' }, loose({ expectedRevision: '1' }))],
    ['append opts cmd', () => b.append({ role: 'user', content: 'x' }, loose({ commandId: '' }))],
    ['append opts cmd5', () => b.append({ role: 'user', content: 'x' }, loose({ commandId: 5 }))],
    ['append opts cmdlong', () => b.append({ role: 'user', content: 'x' }, loose({ commandId: 'x'.repeat(100000) }))],
    ['append opts unknown', () => b.append({ role: 'user', content: 'x' }, loose({ expected: 1 }))],
    ['append as', () => b.append({ role: 'user', content: 'x' }, loose({ as: { kind: 'root' } }))],
    ['append as5', () => b.append({ role: 'user', content: 'x' }, loose({ as: 5 }))],
    ['as', () => b.as(loose(5)).append({ role: 'user', content: 'x' })],
    ['conv filt', () => stemma.conversations(loose({ "x') OR 1=1 --": 1 }))],
  ];
  for (const [n, r] of more) await show(n, r);
});
