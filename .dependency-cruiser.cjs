// domain <- projections <- engine <- face <- infra. `npm run arch` runs this and proves that it looks.

/** npm packages that the pure layers may use. */
const purePackages = 'node_modules/(fp-ts|io-ts|@noble/hashes)/';
/** The faces of the engine, which also open it with a store. */
const faces = '^src/(index\\.ts$|fp\\.ts$|face/)';
/** The files that choose a store. */
const roots = '^src/(open|infra/cli/main)\\.ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'every-file-has-a-layer',
      comment: 'A new folder needs its rules here first.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot:
          '^src/((domain|projections|engine|face|infra|testing)/|(engine|index|fp|open|import-file|tokens-openai)\\.ts$)',
      },
      to: {},
    },
    {
      name: 'domain-knows-only-domain',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { path: '^src/', pathNot: '^src/domain/' },
    },
    {
      name: 'projections-know-only-domain',
      severity: 'error',
      from: { path: '^src/projections/' },
      to: { path: '^src/', pathNot: '^src/(domain|projections)/' },
    },
    {
      name: 'pure-layers-use-no-node-module',
      severity: 'error',
      from: { path: '^src/(domain|projections)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pure-layers-use-few-packages',
      severity: 'error',
      from: { path: '^src/(domain|projections)/' },
      to: { path: 'node_modules/', pathNot: purePackages },
    },
    {
      name: 'engine-knows-no-infra',
      severity: 'error',
      from: { path: '^src/engine(/|\\.ts$)' },
      to: { path: '^src/', pathNot: '^src/(domain|projections|engine)(/|\\.ts$)' },
    },
    {
      name: 'faces-reach-infra-through-open',
      severity: 'error',
      from: { path: faces },
      to: { path: '^src/(infra|testing)/' },
    },
    {
      name: 'testing-knows-no-infra',
      comment: 'The contract suites are published and must fit every store.',
      severity: 'error',
      from: { path: '^src/testing/' },
      to: { path: '^src/(infra/|open\\.ts$)' },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: '^src/testing/' },
    },
    {
      name: 'infra-folders-keep-apart',
      comment: 'Only a composition root, and the command line for importers, joins two of them.',
      severity: 'error',
      from: { path: '^src/infra/([^/]+)/', pathNot: [roots, '^src/infra/cli/'] },
      to: { path: '^src/infra/', pathNot: '^src/infra/$1/' },
    },
    {
      name: 'cli-uses-importers-only',
      severity: 'error',
      from: { path: '^src/infra/cli/', pathNot: roots },
      to: { path: '^src/infra/', pathNot: '^src/infra/(cli|importers)/' },
    },
    {
      name: 'only-roots-choose-a-store',
      severity: 'error',
      from: { path: '^src/', pathNot: [roots, '^src/infra/stores/'] },
      to: { path: '^src/infra/stores/' },
    },
    {
      name: 'only-the-outside-opens',
      severity: 'error',
      from: { path: '^src/', pathNot: [roots, faces, '^src/infra/cli/'] },
      to: { path: '^src/open\\.ts$' },
    },
    {
      name: 'stores-and-importers-do-not-use-the-faces',
      severity: 'error',
      from: { path: '^src/infra/(stores|importers|tokens)/' },
      to: { path: faces },
    },
    {
      name: 'one-file-knows-the-sqlite-driver',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/infra/stores/sqlite/driver\\.ts$' },
      to: { path: 'node_modules/@photostructure/sqlite/|^(node:)?sqlite$' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-barrels',
      severity: 'error',
      from: {},
      to: { path: '^src/.+/index\\.ts$', pathNot: '^src/testing/index\\.ts$' },
    },
    {
      name: 'no-barrels',
      severity: 'error',
      from: { path: '^src/.+/index\\.ts$', pathNot: '^src/testing/index\\.ts$' },
      to: {},
    },
    {
      name: 'nothing-undeclared',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm-peer', 'npm-optional', 'type-only'],
      },
    },
    { name: 'everything-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
