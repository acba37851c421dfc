// Every operation that the handler mounts is named by README, has a page, and is an engine of the import rules.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './packages.mjs'

const core = join(root, 'packages', 'core', 'src')
const read = (...path) => readFileSync(join(root, ...path), 'utf8')
const folders = readdirSync(core).filter(
  (folder) => existsSync(join(core, folder, 'operation.ts')) || existsSync(join(core, folder, 'operations.ts')),
)
const operations = folders.filter((folder) => folder !== 'operation')
const names = operations.map((folder) => (folder === 'evaluate' ? 'evaluate-measure' : folder))
const [readme, architecture, rules] = [read('README.md'), read('docs', 'architecture.md'), read('.dependency-cruiser.cjs')]

const problems = [
  ...names
    .filter((name) => !existsSync(join(root, 'docs', 'operations', `${name}.md`)))
    .map((name) => `docs/operations/${name}.md is missing`),
  ...names
    .filter((name) => !readme.includes(`$${name}`) && !readme.includes(`/${name}.md`))
    .map((name) => `README.md does not name ${name}`),
  ...operations.filter((folder) => !architecture.includes(folder)).map((folder) => `docs/architecture.md does not name ${folder}`),
  ...operations
    .filter((folder) => !rules.includes(`'${folder}'`))
    .map((folder) => `.dependency-cruiser.cjs does not list ${folder} as an engine`),
]
for (const problem of problems) console.error(`  ${problem}`)
console.log(`  ${operations.length} operations: ${names.join(', ')}`)
process.exit(problems.length === 0 ? 0 : 1)
