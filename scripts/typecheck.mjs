// Two programs: core without any platform types, so that `node:*` does not compile there; everything with Node's.
import { step } from './steps.mjs'

const check = (name, project, key) =>
  step(`Types: ${name}`, [
    'tsc',
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    `node_modules/.fhir-ops/${key}.tsbuildinfo`,
    '-p',
    project,
  ])

const core = check('core, web-standard globals only', 'packages/core/tsconfig.json', 'core')
const all = check('whole workspace', 'tsconfig.json', 'workspace')
process.exit(core && all ? 0 : 1)
