import fc from 'fast-check';
import { assistant, boundary, call, record, result, summary, user } from '../sessions.js';

type Step = readonly [kind: number, pick: number, other: number];

interface Written {
  readonly uuid: string;
  readonly isSidechain: boolean;
  readonly apiId?: string;
  readonly calls: readonly string[];
  readonly parent?: string | null;
}

/** Writes one more line of a session: most follow the last record, some go back or repeat. */
const write = (lines: unknown[], written: Written[], [kind, pick, other]: Step): void => {
  const uuid = `r${String(lines.length)}`;
  const back = other % 5 === 0 ? pick : 0;
  const up = written[written.length - 1 - (back % Math.max(1, written.length))];
  const parent = up?.uuid ?? null;
  const isSidechain = up?.isSidechain ?? false;
  const over = isSidechain ? { isSidechain } : {};
  const add = (line: unknown, more: Partial<Written> = {}): void => {
    lines.push(line);
    written.push({ uuid, isSidechain, calls: [], ...more });
  };
  if (kind < 3) add(user(uuid, parent, `text ${String(pick)}`, over));
  else if (kind < 6) {
    const apiId = other % 3 === 0 && up?.apiId !== undefined ? up.apiId : `m${uuid}`;
    const calls = pick % 2 === 0 ? [`c${uuid}`, `d${uuid}`] : [];
    const content = [{ type: 'text', text: 'x' }, ...calls.map((id) => call(id))];
    // Some parts of one API message hang side by side on what was before it.
    const beside = other % 6 === 0 && apiId === up?.apiId ? (up.parent ?? null) : parent;
    add(assistant(uuid, beside, apiId, content, over), { apiId, calls, parent: beside });
  } else if (kind < 9) {
    const caller = [...written].reverse().find(({ calls }) => calls.length > 0);
    const id = caller?.calls[pick % 2] ?? 'orphan';
    const api = caller?.apiId === undefined ? {} : { apiId: caller.apiId };
    add(
      result(
        uuid,
        caller?.uuid ?? null,
        id,
        caller?.isSidechain === true ? { isSidechain: true } : {},
      ),
      {
        ...api,
        isSidechain: caller?.isSidechain ?? false,
      },
    );
  } else if (kind < 11) add(record('system', uuid, parent, { subtype: 'note', ...over }));
  else if (kind < 12) add(user(uuid, null, 'side', { isSidechain: true }), { isSidechain: true });
  else if (kind < 13) lines.push({ type: 'summary', summary: 'x', leafUuid: String(pick) });
  else if (kind < 14) lines.push(lines[pick % Math.max(1, lines.length)] ?? { type: 'x' });
  else if (kind < 15) lines.push(user(up?.uuid ?? uuid, null, `again ${String(other)}`));
  else if (kind < 16)
    add(user(uuid, other % 2 === 0 ? null : 'gone', 'root'), { isSidechain: false });
  else if (parent !== null && !isSidechain) {
    add(boundary(uuid, other % 4 === 0 ? 'gone' : parent));
    const after = `k${uuid}`;
    lines.push(summary(after, uuid));
    written.push({ uuid: after, isSidechain: false, calls: [] });
  }
};

/** Records of sessions with forks, parallel calls, sidechains, compactions, repeats and orphans. */
export const randomSession: fc.Arbitrary<readonly unknown[]> = fc
  .array(fc.tuple(fc.nat(16), fc.nat(50), fc.nat(50)), { minLength: 1, maxLength: 40 })
  .map((steps) => {
    const lines: unknown[] = [user('r', null, 'first')];
    const written: Written[] = [{ uuid: 'r', isSidechain: false, calls: [] }];
    for (const step of steps) write(lines, written, step);
    return lines;
  });
