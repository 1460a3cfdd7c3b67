import { Command, CommanderError } from 'commander';
import type { FaultOf } from '../../domain/errors.js';
import { EXIT } from '../../domain/error-rows/row.js';
import { setCommands } from './commands.js';
import { faultOf, subjectOf } from './faults.js';
import { languageOf, settingsOf, type Language } from './settings.js';
import type { CommandSpec, Invocation, Registry, Root } from './invocation.js';
import type { Io } from './io.js';
import { optionsOf } from './options.js';
import { paintOf, wantsColor } from './paint.js';
import { reportFault } from './report-fault.js';
import { writeResult, type Look } from './result.js';
import { oneLine, safeText } from './terminal-text.js';
import { openedStores } from './opened-stores.js';
import { wordsIn, type Words } from './words/words.js';

interface Frame {
  readonly io: Io;
  readonly root: Root;
  readonly words: Words;
  readonly exit: { code: number };
}

const globalFlags: readonly (readonly [flags: string, key: string])[] = [
  ['--store <path>', 'store'],
  ['--tenant <name>', 'tenant'],
  ['--salvage', 'salvage'],
  ['--allow-unsafe-filesystem', 'allow-unsafe-filesystem'],
  ['--lang <en|zh>', 'lang'],
  ['--json', 'json'],
  ['--jsonl', 'jsonl'],
  ['--no-color', 'no-color'],
];

const formatOf = (values: Readonly<Record<string, unknown>>, env: Io['env']): Look['format'] => {
  if (values['jsonl'] === true) return 'jsonl';
  const variable = env['STEMMA_JSON'];
  const isAsked = variable !== undefined && variable !== '' && variable !== '0';
  return values['json'] === true || isAsked ? 'json' : 'text';
};

const lookOf = ({ io, words }: Frame, values: Readonly<Record<string, unknown>>): Look => {
  const isColored = wantsColor(io, values['color'] !== false);
  return {
    words,
    paint: paintOf(isColored),
    isColored,
    width: io.stdout.columns ?? Number.POSITIVE_INFINITY,
    format: formatOf(values, io.env),
  };
};

/** Arguments as texts: an absent one is empty, those of a list stand at the end. */
const argumentsOf = (found: readonly unknown[]): readonly string[] =>
  found.flatMap((item: unknown) => {
    if (Array.isArray(item)) return item.filter((part) => typeof part === 'string');
    return [typeof item === 'string' ? item : ''];
  });

const invoke =
  (frame: Frame, spec: CommandSpec) =>
  async (...given: readonly unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const values = command.optsWithGlobals<Record<string, unknown>>();
    const { io, root } = frame;
    const options = optionsOf(values);
    const [store, tenant] = [options.text('store'), options.text('tenant')];
    const flags = {
      ...(store === undefined ? {} : { store }),
      ...(tenant === undefined ? {} : { tenant }),
      salvage: options.flag('salvage'),
      allowUnsafeFilesystem: options.flag('allow-unsafe-filesystem'),
    };
    const settings = settingsOf(flags, io.env, io.cwd);
    const stores = openedStores(root, settings, io);
    const call: Invocation = {
      io,
      root,
      settings,
      look: lookOf(frame, values),
      options,
      args: argumentsOf(given.slice(0, -2)),
      reader: stores.reader,
      writer: stores.writer,
      progress: (line) => {
        io.stderr.write(`${oneLine(line, 400)}\n`);
      },
      nowMs: (io.now ?? Date.now)(),
    };
    try {
      const result = await spec.run?.(call);
      if (result === undefined) return;
      writeResult(io, result, call.look);
      frame.exit.code = result.exit ?? 0;
    } finally {
      await stores.close();
    }
  };

const helpBehind = (words: Words, key: string): string => {
  const examples = words.help(key).examples.map((example) => `  $ stemma ${example}`);
  return examples.length === 0 ? '' : `\n${words.text.examples}\n${examples.join('\n')}`;
};

/** Help in the language of the words: commander's own headings are English. */
const dress = (command: Command, words: Words): Command =>
  command
    .exitOverride()
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => words.helpTitle(title),
    })
    .helpOption('-h, --help', words.text.helpOption)
    .helpCommand(false);

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

const registryOf = (frame: Frame, program: Command): Registry => {
  const { words } = frame;
  const add = (parent: Command, spec: CommandSpec): Command => {
    const { use, key, options = [], lists = [], aliases = [], run } = spec;
    const command = dress(parent.command(use), words)
      .description(words.help(key).summary)
      .aliases([...aliases])
      .addHelpText('after', helpBehind(words, key));
    for (const flags of options) command.option(flags, words.option(key, flags));
    for (const flags of lists) command.option(flags, words.option(key, flags), collect);
    if (run !== undefined) command.action(invoke(frame, spec));
    return command;
  };
  return { program, add };
};

const programOf = (frame: Frame): Command => {
  const { io, root, words } = frame;
  const program = dress(new Command('stemma'), words)
    .description(words.text.tagline)
    .version(root.version, '--version', words.text.versionOption)
    .helpCommand('help [command]', words.text.helpCommand)
    .addHelpText('after', helpBehind(words, 'stemma'));
  program.configureOutput({
    writeOut: (text) => {
      io.stdout.write(safeText(text));
    },
    writeErr: (text) => {
      io.stderr.write(safeText(text));
    },
    // Faults are reported in one place, as text or JSON.
    outputError: () => undefined,
    getOutHelpWidth: () => Math.max(60, Math.min(100, io.stdout.columns ?? 100)),
    getOutHasColors: () => false,
  });
  for (const [flags, key] of globalFlags) program.option(flags, words.option('global', key));
  setCommands(registryOf(frame, program));
  return program;
};

const quoted = (message: string): string => /'([^']*)'/.exec(message)?.[1] ?? '';

/** What commander refuses, as a fault of ours. */
const usageFault = ({ code, message }: CommanderError): FaultOf<'InvalidArgument'> => {
  const name = quoted(message);
  const refused = (reason: FaultOf<'InvalidArgument'>['reason']): FaultOf<'InvalidArgument'> => ({
    _tag: 'InvalidArgument',
    name,
    reason,
  });
  if (code === 'commander.unknownOption') return refused('unknown_option');
  if (code === 'commander.unknownCommand' || code === 'commander.excessArguments') {
    return refused('unknown_value');
  }
  return refused(code.startsWith('commander.missing') ? 'missing' : 'unknown_value');
};

const suggestionIn = (message: string): string | undefined =>
  /\(Did you mean [^)]*\)/.exec(message)?.[0];

const formatAsked = ({ argv, env }: Io): Look['format'] =>
  formatOf({ json: argv.includes('--json'), jsonl: argv.includes('--jsonl') }, env);

const fail = (io: Io, words: Words, error: unknown): number => {
  const look = {
    words,
    format: formatAsked(io),
    paint: paintOf(wantsColor({ ...io, stdout: io.stderr }, !io.argv.includes('--no-color'))),
  };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // A group of commands was named and none of it: its help is on standard error.
    if (error.code === 'commander.help') return EXIT.usage;
    const suggestion = suggestionIn(error.message);
    return reportFault(io, look, usageFault(error), suggestion === undefined ? {} : { suggestion });
  }
  const fault = faultOf(error);
  if (fault._tag === 'Unexpected' && io.env['STEMMA_DEBUG'] !== undefined) {
    io.stderr.write(`${safeText(error instanceof Error ? (error.stack ?? '') : String(error))}\n`);
  }
  const subject = subjectOf(error);
  return reportFault(io, look, fault, subject === undefined ? {} : { subject });
};

const aborted = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    const stop = (): void => {
      resolve(EXIT.interrupted);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });

/** Runs one command line and gives its exit code. Never throws, never ends the process. */
export const runCli = async (io: Io, root: Root): Promise<number> => {
  let language: Language = 'en';
  const run = async (): Promise<number> => {
    try {
      language = languageOf(io.argv, io.env, io.cwd);
      const frame: Frame = { io, root, words: wordsIn(language), exit: { code: 0 } };
      // Without a word: what there is.
      const argv = io.argv.length === 0 ? ['--help'] : [...io.argv];
      await programOf(frame).parseAsync(argv, { from: 'user' });
      return io.signal.aborted ? EXIT.interrupted : frame.exit.code;
    } catch (error) {
      return io.signal.aborted ? EXIT.interrupted : fail(io, wordsIn(language), error);
    }
  };
  return Promise.race([run(), aborted(io.signal)]);
};
