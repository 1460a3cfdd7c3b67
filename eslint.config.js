import js from '@eslint/js';
import fpTs from 'eslint-plugin-fp-ts';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

// Plain Node resolves neither `fp-ts/Either` nor `io-ts/Decoder`, though the type checker does.
const fpImports = {
  regex: '^(fp-ts|io-ts)/(?!lib/[A-Za-z]+\\.js$)',
  message: 'Import this as fp-ts/lib/Name.js or io-ts/lib/Name.js: plain Node finds nothing else.',
};
const fpRoot = { name: 'fp-ts', message: 'The root loads all of fp-ts. Import fp-ts/lib/Name.js.' };
const nodeImports = {
  regex: '^node:',
  message: 'This layer is pure. What it needs from the machine comes in as an argument.',
};

const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name.',
};
const sqlVerbs =
  '(select|insert|update|delete|replace|create|alter|drop|with|attach|vacuum|begin|savepoint)';
const sqlMessage = 'SQL is a constant text. Pass values as bound parameters.';
// Only a constant in capitals may be put into a text. A pragma takes no bound parameter, so its
// argument may be anything.
const sqlRules = [
  {
    selector:
      `TemplateLiteral[quasis.0.value.raw=/^\\s*${sqlVerbs}\\s/i]` +
      ' > .expressions:not(Identifier[name=/^[A-Z][A-Z0-9_]*$/])',
    message: sqlMessage,
  },
  {
    selector:
      'CallExpression[callee.property.name=/^(prepare|exec|sql)$/]' +
      ' > TemplateLiteral.arguments:not([quasis.0.value.raw=/^\\s*pragma\\s/i])' +
      ' > .expressions:not(Identifier[name=/^[A-Z][A-Z0-9_]*$/])',
    message: sqlMessage,
  },
  {
    selector: `BinaryExpression[operator='+'] > Literal.left[value=/^\\s*${sqlVerbs}\\s/i]`,
    message: sqlMessage,
  },
];
const purityRules = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'No clock in this layer: the time comes in with the command.',
  },
  {
    selector: ":matches(NewExpression, CallExpression)[callee.name='Date'][arguments.length=0]",
    message: 'No clock in this layer: the time comes in with the command.',
  },
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: 'No randomness in this layer: ids come in with the command.',
  },
];
const impureGlobals = [
  'process',
  'performance',
  'crypto',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'console',
].map((name) => ({ name, message: 'This layer is pure.' }));

export default defineConfig(
  globalIgnores(['dist/', '.build/', '.fresh-*/', 'coverage/', 'node_modules/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { 'fp-ts': fpTs },
    rules: {
      eqeqeq: 'error',
      'fp-ts/no-discarded-pure-expression': 'error',
      'no-restricted-imports': ['error', { paths: [fpRoot], patterns: [fpImports] }],
      'no-restricted-syntax': ['error', noDefaultExport],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' },
      ],
      // `Position | 'start'` tells the reader more than `string` does.
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      '@typescript-eslint/array-type': 'off',
      '@typescript-eslint/consistent-indexed-object-style': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': ['error', noDefaultExport, ...sqlRules],
    },
  },
  {
    files: ['src/domain/**/*.ts', 'src/projections/**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', { paths: [fpRoot], patterns: [fpImports, nodeImports] }],
      'no-restricted-syntax': ['error', noDefaultExport, ...sqlRules, ...purityRules],
      'no-restricted-globals': ['error', ...impureGlobals],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['vitest.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // JavaScript is configuration and start-up only; `npm run typecheck` covers scripts/.
    files: ['**/*.{js,mjs,cjs}'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: {
      'fp-ts/no-discarded-pure-expression': 'off',
      'no-undef': 'off',
      'no-restricted-syntax': 'off',
      '@typescript-eslint/no-require-imports': 'off',
    },
  },
);
