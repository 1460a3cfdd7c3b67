// Lets a child process of a test run the sources as they are: `node --import .../loader.mjs file.ts`.
import fs from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** @type {(specifier: string, context: { parentURL?: string }, next: Function) => unknown} */
export const resolve = (specifier, context, next) => {
  if (specifier.startsWith('.') && specifier.endsWith('.js')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (fs.existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
};

/** @type {(url: string, context: object, next: Function) => unknown} */
export const load = (url, context, next) => {
  if (!url.endsWith('.ts')) return next(url, context);
  const { outputText } = ts.transpileModule(fs.readFileSync(fileURLToPath(url), 'utf8'), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  });
  return { format: 'module', source: outputText, shortCircuit: true };
};

// The same file is the registration and the hooks; only the first is in the main thread.
if (!new URL(import.meta.url).searchParams.has('hooks')) register(`${import.meta.url}?hooks`);
