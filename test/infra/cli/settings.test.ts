import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isStemmaError } from '../../../src/face/stemma-error.js';
import { languageOf, settingsOf } from '../../../src/infra/cli/settings.js';
import { tempFolder } from '../../support/temp-folder.js';

const folderWith = (config?: string): string => {
  const folder = tempFolder('stemma-settings');
  if (config !== undefined) fs.writeFileSync(path.join(folder, 'stemma.config.json'), config);
  return folder;
};

const refusal = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    if (isStemmaError(error)) return error.data;
    throw error;
  }
  return undefined;
};

describe('settings', () => {
  const config = JSON.stringify({ store: './from-config', tenant: 't-config', model: 'm-config' });

  it('CLI1 takes the flag before the environment, the config and the default', () => {
    const cwd = folderWith(config);
    const env = { STEMMA_STORE: 'from-env', STEMMA_TENANT: 't-env' };
    expect(settingsOf({ store: 'from-flag', tenant: 't-flag' }, env, cwd)).toEqual({
      store: path.join(cwd, 'from-flag'),
      storeFrom: 'flag',
      tenant: 't-flag',
      model: 'm-config',
      configFile: path.join(cwd, 'stemma.config.json'),
      salvage: false,
      allowUnsafeFilesystem: false,
    });
    expect(settingsOf({}, env, cwd)).toMatchObject({
      store: path.join(cwd, 'from-env'),
      storeFrom: 'environment',
      tenant: 't-env',
    });
    expect(settingsOf({}, {}, cwd)).toMatchObject({
      store: path.join(cwd, 'from-config'),
      storeFrom: 'config',
      tenant: 't-config',
    });
    const bare = folderWith();
    expect(settingsOf({}, { STEMMA_STORE: '' }, bare)).toEqual({
      store: path.join(bare, '.stemma'),
      storeFrom: 'default',
      salvage: false,
      allowUnsafeFilesystem: false,
    });
  });

  it('CLI1 finds a store by the name that the config gives it', () => {
    const cwd = folderWith(JSON.stringify({ stores: { prod: '/data/stemma' } }));
    expect(settingsOf({ store: 'prod' }, {}, cwd).store).toBe('/data/stemma');
    expect(settingsOf({ store: 'constructor' }, {}, cwd).store).toBe(path.join(cwd, 'constructor'));
  });

  it.each([
    ['{"stores":1}', { name: 'stemma.config.json: stores', reason: 'wrong_type' }],
    ['{"store":1}', { name: 'stemma.config.json: store', reason: 'wrong_type' }],
    ['{"stroe":"x"}', { name: 'stemma.config.json: stroe', reason: 'unknown_option' }],
  ])('CLI1 refuses the config %s by name', (text, expected) => {
    expect(refusal(() => settingsOf({}, {}, folderWith(text)))).toEqual({
      _tag: 'InvalidArgument',
      ...expected,
    });
  });

  it.each([
    ['{', 'InvalidJson'],
    ['[]', 'InvalidShape'],
    ['{"store":"a","store":"b"}', 'DuplicateKey'],
    ['{"__proto__":{}}', 'ForbiddenKey'],
  ])('CLI1 refuses the config %s', (text, tag) => {
    expect(refusal(() => settingsOf({}, {}, folderWith(text)))).toMatchObject({ _tag: tag });
  });

  it('CLI1 refuses a store that is not of this release', () => {
    expect(refusal(() => settingsOf({ store: 'esdb://localhost:2113' }, {}, folderWith()))).toEqual(
      {
        _tag: 'InvalidArgument',
        name: 'store',
        reason: 'unknown_value',
      },
    );
  });
});

describe('language', () => {
  const cwd = folderWith();

  it.each([
    [['--lang', 'zh'], {}, 'zh'],
    [['--lang=en'], { STEMMA_LANG: 'zh' }, 'en'],
    [[], { STEMMA_LANG: 'zh', LANG: 'en_US.UTF-8' }, 'zh'],
    [[], { LANG: 'zh_CN.UTF-8' }, 'zh'],
    [[], { LC_ALL: 'de_DE.UTF-8', LANG: 'zh_CN.UTF-8' }, 'en'],
    [[], { LANG: 'C' }, 'en'],
    [[], {}, 'en'],
    [['search', '--', '--lang', 'zh'], {}, 'en'],
  ] as const)('CLI2 %j with %j is %s', (argv, env, language) => {
    expect(languageOf(argv, env, cwd)).toBe(language);
  });

  it('CLI2 takes the language of the config before the locale', () => {
    const configured = folderWith('{"lang":"zh"}');
    expect(languageOf([], { LANG: 'en_US.UTF-8' }, configured)).toBe('zh');
    expect(languageOf([], { STEMMA_LANG: 'en' }, configured)).toBe('en');
  });

  it('CLI2 refuses a language that it does not speak', () => {
    expect(refusal(() => languageOf(['--lang', 'fr'], {}, cwd))).toEqual({
      _tag: 'InvalidArgument',
      name: 'lang',
      reason: 'unknown_value',
    });
  });
});
