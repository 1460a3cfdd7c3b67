import { compile, library } from './compile.mjs';

process.exitCode = compile(library) ? 0 : 1;
