// Three programs: core without any platform types, so that `node:*` does not compile there; everything with Node's; the page with a browser's.
// Checked by TypeScript 7, in a fifth of the time; scripts that read syntax trees need the API of 5.9, which 7 does not have.
import { step } from './steps.mjs'

const check = (name, project, key) =>
  step(`Types: ${name}`, [
    'node_modules/typescript-7/bin/tsc',
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    `node_modules/.fhir-ops/${key}.tsbuildinfo`,
    '-p',
    project,
  ])

const core = check('core, web-standard globals only', 'packages/core/tsconfig.json', 'core')
const all = check('whole workspace', 'tsconfig.json', 'workspace')
const page = check('page of the playground, with the DOM', 'packages/playground/page/tsconfig.json', 'page')
process.exit(core && all && page ? 0 : 1)
