import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

// Inside the project, since that is where Node looks for packages.
const folder = path.join(root, '.build', 'children', String(process.pid));

const importsOf = (text: string): readonly string[] =>
  [...text.matchAll(/\bfrom '(\.[^']+)\.js'/g)].map((match) => `${match[1] ?? ''}.ts`);

const transpile = (text: string): string =>
  ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  }).outputText;

/** Writes a source, and all that it imports, as plain modules; gives the place of the first one. */
const compileInto = (source: string, done: Set<string>): string => {
  const target = path.join(folder, path.relative(root, source)).replace(/\.ts$/, '.js');
  if (done.has(source)) return target;
  done.add(source);
  const text = fs.readFileSync(source, 'utf8');
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, transpile(text));
  for (const name of importsOf(text)) {
    compileInto(path.resolve(path.dirname(source), name), done);
  }
  return target;
};

let compiled: string | undefined;

// At the top, since a hook that is asked for inside a test never runs.
afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

/** The commands of the child processes in a form that plain Node runs, made once for a test file. */
export const compiledCommands = (): string => {
  if (compiled !== undefined) return compiled;
  compiled = compileInto(fileURLToPath(new URL('commands.ts', import.meta.url)), new Set());
  return compiled;
};
