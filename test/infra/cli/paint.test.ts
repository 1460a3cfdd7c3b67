import { describe, expect, it } from 'vitest';
import type { Io } from '../../../src/infra/cli/io.js';
import { gate, paintOf, wantsColor } from '../../../src/infra/cli/paint.js';

const io = (env: Io['env'], isTTY: boolean): Io => ({
  argv: [],
  env,
  cwd: '/',
  stdin: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }),
  stdout: { write: () => undefined, isTTY },
  stderr: { write: () => undefined, isTTY },
  signal: new AbortController().signal,
});

describe('colours', () => {
  it.each([
    [{}, true, true, true],
    [{}, false, true, false],
    [{ NO_COLOR: '1' }, true, true, false],
    [{ NO_COLOR: '', TERM: 'xterm' }, true, true, true],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, true, false],
    [{ FORCE_COLOR: '1' }, false, true, true],
    [{ FORCE_COLOR: '0' }, true, true, false],
    [{ TERM: 'dumb' }, true, true, false],
    [{ FORCE_COLOR: '1' }, true, false, false],
  ])('CLI3 %j with terminal %s and flag %s: %s', (env, isTTY, flag, wanted) => {
    expect(wantsColor(io(env, isTTY), flag)).toBe(wanted);
  });

  it('CLI3 writes no escape where none is wanted', () => {
    const { good, bad, faint, strong, odd } = paintOf(false);
    expect([good, bad, faint, strong, odd].map((paint) => paint('x')).join('')).toBe('xxxxx');
  });

  it('S03 lets only its own colours pass', () => {
    const { good } = paintOf(true);
    const hostile = '\u001b]0;title\u0007\u001b[2J\u001b[5mx\u001b[0m';
    expect(gate(`${good('ok')} ${hostile}`, true)).toBe(
      '\u001b[32mok\u001b[39m \\x1b]0;title\\x07\\x1b[2J\\x1b[5mx\u001b[0m',
    );
    expect(gate(hostile, false)).toBe('\\x1b]0;title\\x07\\x1b[2J\\x1b[5mx\\x1b[0m');
  });
});
