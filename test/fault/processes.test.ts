import { beforeAll, describe, it } from 'vitest';
import { compileRigs, expectClaim } from './claim-run.js';

beforeAll(compileRigs, 120_000);

describe('processes compete or are killed', () => {
  it('G2 G3 keeps what was acknowledged before a process was killed', (context) => {
    expectClaim(context, 'kills', 6);
  }, 120_000);

  it('G6 lets one process win each revision', (context) => {
    expectClaim(context, 'processes', 60);
  }, 120_000);

  it('G11 gives readers of the feed each event once, whoever is killed', (context) => {
    expectClaim(context, 'feed', 600);
  }, 120_000);
});
