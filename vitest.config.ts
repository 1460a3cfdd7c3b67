import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The examples import the package by its name, as a reader of them would.
  resolve: { alias: { stemma: new URL('./src/index.ts', import.meta.url).pathname } },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    globals: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
  },
});
