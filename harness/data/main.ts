import { checkFolder } from './folder.js';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const main = async (args: readonly string[]): Promise<number> => {
  const [folder, ...rest] = args;
  if (folder === undefined || rest.length > 0) {
    process.stderr.write('usage: npm run data -- FOLDER\n');
    return 2;
  }
  const { passed, failed, skipped } = await checkFolder(folder, say);
  say(`${String(passed)} passed, ${String(failed)} failed, ${String(skipped)} skipped`);
  return failed > 0 ? 1 : 0;
};

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
