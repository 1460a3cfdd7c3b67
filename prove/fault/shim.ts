import { spawnSync } from 'node:child_process';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { inProject } from '../support/project.js';

/** A library of native/ that a process loads before the C library. */
export type ShimName = 'io-log' | 'io-fail';

const compilers = ['cc', 'gcc', 'clang'];

const compilerHere = (): string | undefined =>
  compilers.find((name) => spawnSync(name, ['--version']).status === 0);

/** Builds a shim into a folder, or says why there is none on this machine. */
export const buildShim = (name: ShimName, folder: string): E.Either<string, string> => {
  if (process.platform !== 'linux') return E.left(`shims are for Linux, not ${process.platform}`);
  const compiler = compilerHere();
  if (compiler === undefined) return E.left(`no C compiler (${compilers.join(', ')}) in PATH`);
  const target = path.join(folder, `${name}.so`);
  const source = inProject('native', `${name}.c`);
  const args = ['-O2', '-Wall', '-Wextra', '-shared', '-fPIC', '-o', target, source];
  const built = spawnSync(compiler, [...args, '-ldl', '-lpthread'], { encoding: 'utf8' });
  return built.status === 0 ? E.right(target) : E.left(`${compiler} ${name}.c: ${built.stderr}`);
};
