// Every operation of core is an entry of its package, is mounted by the handler, is named by README and has a page.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './packages.mjs'

const core = join(root, 'packages', 'core')
const read = (...path) => readFileSync(join(root, ...path), 'utf8')
const folders = readdirSync(join(core, 'src')).filter((folder) =>
  ['operation.ts', 'operations.ts'].some((file) => folder !== 'operation' && existsSync(join(core, 'src', folder, file))),
)
const [readme, mounted] = [read('README.md'), read('packages', 'handler', 'src', 'operations.ts')]
const listed = read('packages', 'core', 'src', 'operations', 'index.ts')
const descriptors = listed.match(/\w+Operations?\b/g) ?? []
const entries = new Set(Object.keys(JSON.parse(read('packages', 'core', 'package.json')).exports))

const problems = folders.flatMap((folder) => {
  const page = `docs/operations/${folder === 'evaluate' ? 'evaluate-measure' : folder}.md`
  return [
    ...(entries.has(`./${folder}`) ? [] : [`exports of packages/core/package.json have no ./${folder}`]),
    ...(listed.includes(`'../${folder}/`) ? [] : [`packages/core/src/operations/index.ts does not list ${folder}`]),
    ...(existsSync(join(root, page)) ? [] : [`${page} is missing`]),
    ...(readme.includes(page) ? [] : [`README.md does not lead to ${page}`]),
  ]
})
problems.push(
  ...descriptors
    .filter((name) => !mounted.includes(`  ${name}`))
    .map((name) => `packages/handler/src/operations.ts does not mount ${name}`),
)
for (const problem of problems) console.error(`  ${problem}`)
console.log(`  ${folders.length} operations: ${folders.join(', ')}`)
process.exit(problems.length === 0 ? 0 : 1)
