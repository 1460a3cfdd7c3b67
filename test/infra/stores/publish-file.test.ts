import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { publishFile } from '../../../src/infra/stores/publish-file.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('a finished file gets its name', () => {
  it('SQ97 once: a second one leaves the first as it is', () => {
    const folder = tempFolder('publish');
    const [one, two, place] = ['one', 'two', 'place'].map((name) => path.join(folder, name));
    if (one === undefined || two === undefined || place === undefined) throw new Error('no path');
    fs.writeFileSync(one, 'first');
    fs.writeFileSync(two, 'second');
    expect(publishFile(one, place)).toBe(true);
    expect(publishFile(two, place)).toBe(false);
    expect(fs.readFileSync(place, 'utf8')).toBe('first');
  });
});
