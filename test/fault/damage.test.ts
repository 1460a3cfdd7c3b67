import { beforeAll, describe, it } from 'vitest';
import { compileRigs, expectClaim } from './claim-run.js';

beforeAll(compileRigs, 120_000);

describe('a file is changed or copied', () => {
  it('G13 finds and names what a flipped bit changed', (context) => {
    expectClaim(context, 'flips', 80);
  }, 120_000);

  it('G15 restores what was backed up under load, and knows a copy without its log', (context) => {
    expectClaim(context, 'backup', 4);
  }, 120_000);
});
