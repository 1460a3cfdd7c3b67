import { beforeAll, describe, expect, it } from 'vitest';
import { compileRigs, expectClaim, runClaim } from './claim-run.js';

beforeAll(compileRigs, 120_000);

describe('the disk forgets or fails', () => {
  it('G1 G3 keeps what was acknowledged, whole, through power cuts', (context) => {
    expectClaim(context, 'power', 40);
  }, 120_000);

  it('G4 G5 acknowledges nothing that an error of the disk prevented', (context) => {
    expectClaim(context, 'io-faults', 6);
  }, 120_000);

  it('is not tried, and says why, where no compiler can make the shim', () => {
    const { line, code } = runClaim('power', 1, { PATH: '/nowhere' });
    expect(line).toMatchObject({ pass: false, measures: [] });
    expect(line.skipped).toMatch(/compiler|Linux/);
    expect(code).toBe(2);
  }, 30_000);
});
