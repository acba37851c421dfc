// Which module may import which. `docs/architecture.md` gives the reasons.
const { readdirSync } = require('node:fs')

const core = '^packages/core/src'
const layer = (names) => `${core}/(${names.join('|')})/`

const foundations = ['bits', 'errors', 'explain', 'input', 'json', 'regex', 'text', 'work']
const seams = ['storage', 'code-system', 'content', 'context', 'parameters', 'operation']
/** Every folder with the descriptor of an operation, and the two whose routes the handler has itself. */
const engines = [...foldersWith(/^operations?\.ts$/).filter((folder) => folder !== 'operation'), 'execute', 'sessions']

function foldersWith(file) {
  const sources = `${__dirname}/packages/core/src`
  return readdirSync(sources, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(`${sources}/${entry.name}`).some((name) => file.test(name)))
    .map(({ name }) => name)
}

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-knows-no-platform',
      severity: 'error',
      from: { path: core, pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'terminologies-run-anywhere',
      comment: 'What opens a release runs in browsers too; only importing one needs Node.',
      severity: 'error',
      from: { path: '^packages/(snomed|loinc-rxnorm)/src/(?!import/)', pathNot: '\\.test\\.ts$' },
      to: { path: '^(node:|packages/(releases/|(snomed|loinc-rxnorm)/src/import/))' },
    },
    {
      name: 'terminologies-know-no-engine',
      severity: 'error',
      from: { path: '^packages/(snomed|loinc-rxnorm|releases)/src', pathNot: '\\.test\\.ts$' },
      to: { path: [layer(engines), '^packages/(cli|handler)/'] },
    },
    {
      name: 'core-knows-no-other-package',
      severity: 'error',
      from: { path: core, pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/(?!core/)' },
    },
    {
      name: 'foundations-stand-alone',
      severity: 'error',
      from: { path: layer(foundations) },
      to: { path: layer([...seams, ...engines, 'search', 'terminology', 'fhirpath', 'memory']) },
    },
    {
      name: 'seams-know-no-engine',
      severity: 'error',
      from: { path: layer(seams), pathNot: '\\.test\\.ts$' },
      to: { path: layer([...engines, 'terminology', 'memory']) },
    },
    {
      name: 'adapters-know-no-engine',
      severity: 'error',
      from: { path: '^packages/(sqlite|postgres|http|storage-contract)/src', pathNot: '\\.test\\.ts$' },
      to: { path: layer([...engines, 'terminology']) },
    },
    {
      name: 'adapters-know-no-handler',
      severity: 'error',
      from: { path: '^packages/(core|sqlite|postgres|http|r4|bot-sandbox|storage-contract)/src', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/(handler|cli)/' },
    },
    {
      name: 'nothing-knows-the-command-line',
      severity: 'error',
      from: { path: '^packages/(?!(cli|conformance)/)' },
      to: { path: '^packages/cli/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|node_modules)/' },
    webpackConfig: { fileName: 'scripts/source-resolution.mjs' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
}
