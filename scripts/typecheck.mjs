// Two programs: core without any platform types, so that `node:*` does not compile there; everything with Node's.
import { step } from './steps.mjs'

const core = step('Types: core, web-standard globals only', ['tsc', '--noEmit', '-p', 'packages/core/tsconfig.json'])
const all = step('Types: whole workspace', ['tsc', '--noEmit', '-p', 'tsconfig.json'])
process.exit(core && all ? 0 : 1)
