import fs from 'node:fs';
import path from 'node:path';
import type { Invocation, Register } from '../invocation.js';
import { CONFIG_FILE } from '../settings.js';
import type { Result } from '../result.js';
import { pairs } from '../show.js';
import { writeFile } from '../write-file.js';

/** Secrets and conversations do not belong into a repository by accident. */
const keepOutOfGit = (store: string): void => {
  const isFolder = fs.statSync(store, { throwIfNoEntry: false })?.isDirectory() === true;
  const file = path.join(store, '.gitignore');
  if (isFolder && !fs.existsSync(file)) fs.writeFileSync(file, '*\n', { mode: 0o600 });
};

const init = async (call: Invocation): Promise<Result> => {
  const { settings, io, look, root } = call;
  const isNew = !fs.existsSync(settings.store);
  const isConfigured = settings.configFile !== undefined;
  await call.writer();
  keepOutOfGit(settings.store);
  if (!isConfigured) {
    const relative = path.relative(io.cwd, settings.store);
    const store = relative.startsWith('..') ? settings.store : `./${relative}`;
    const config = { store, ...(settings.tenant === undefined ? {} : { tenant: settings.tenant }) };
    await writeFile(call, CONFIG_FILE, [`${JSON.stringify(config, null, 2)}\n`], false);
  }
  const facts = await root.lookAt(settings.store);
  const { text } = look.words;
  return {
    name: 'init',
    data: {
      store: facts.file,
      storeId: facts.storeId ?? null,
      created: isNew,
      config: path.join(io.cwd, CONFIG_FILE),
      configCreated: !isConfigured,
    },
    text: () =>
      pairs([
        [text.store, `sqlite  ${facts.file}`],
        [isNew ? text.created : text.exists, facts.storeId ?? ''],
        [text.config, `${CONFIG_FILE}  ${isConfigured ? text.kept : text.written}`],
        [text.next, 'stemma demo   ·   stemma new --id my-first   ·   stemma import FILE'],
      ]),
  };
};

export const initCommand: Register = ({ program, add }) => {
  add(program, { use: 'init', key: 'init', options: ['--yes'], run: init });
};
