// Exact versions everywhere, lock files that `npm ci` takes on every platform, and only licences that allow free use in what is published.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, workspacePackages } from './packages.mjs'
import { PNPM } from './steps.mjs'

const LICENCES = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
  'Unicode-3.0',
  'Unicode-DFS-2016',
])
/** Packages whose licence is not on the list, each with the reason why it may be used all the same. */
const EXCEPTIONS = new Map([
  ['@lhncbc/ucum-lhc', 'BSD by its manifest: terms of the National Library of Medicine, and of UCUM; units are not to be had otherwise'],
  ['lightningcss', 'MPL-2.0, unchanged: comes with vite, which only runs the tests of those who use storage-contract'],
])
/** What is installed apart from the workspace, by npm. */
const LOCKED_BY_NPM = ['site', 'packages/outside/tools']
const problems = [...inexactVersions(), ...forbiddenLicences(), ...LOCKED_BY_NPM.flatMap(unlocked)]
for (const problem of problems) console.error(`  ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)

function inexactVersions() {
  const manifests = [JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')), ...workspacePackages().map(({ manifest }) => manifest)]
  return manifests.flatMap((manifest) =>
    Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
      .filter(([, version]) => version !== 'workspace:*' && !/^(npm:[^@]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${manifest.name}: ${name} must have an exact version, not ${version}`),
  )
}

function forbiddenLicences() {
  const [program, ...args] = PNPM
  const listed = execFileSync(program, [...args, '--recursive', 'licenses', 'list', '--prod', '--json'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  return Object.entries(JSON.parse(listed))
    .filter(
      ([licence]) =>
        !licence
          .replace(/[()]/g, '')
          .split(' OR ')
          .some((one) => one.split(' AND ').every((part) => LICENCES.has(part))),
    )
    .flatMap(([licence, packages]) =>
      packages.filter(({ name }) => !isExcepted(name)).map(({ name }) => `${name}: licence ${licence} is not on the list`),
    )
}

/** An exception holds for the package and its parts by platform. */
function isExcepted(name) {
  return [...EXCEPTIONS.keys()].some((known) => name === known || name.startsWith(`${known}-`))
}

/** Parts for other platforms that a lock file leaves out, because a registry did not have them when it was written: `npm ci` refuses such a file. */
function unlocked(folder) {
  const { packages } = JSON.parse(readFileSync(join(root, folder, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !placesFor(path).some((place) => `${place}node_modules/${name}` in packages))
      .map((name) => `${folder}/package-lock.json: ${name}, an optional part of ${path}, is missing`),
  )
}

/** Where a package finds others: its own folder, and those around it. */
function placesFor(path) {
  const around = path.lastIndexOf('/node_modules/')
  const outer = path === '' ? [] : around === -1 ? [''] : placesFor(path.slice(0, around))
  return [path === '' ? '' : `${path}/`, ...outer]
}
