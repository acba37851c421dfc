// Installs and builds what is not yet installed and built. Runs on the machine's own Node, whatever its version.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, workspacePackages } from './packages.mjs'
import { PNPM, quietStep } from './steps.mjs'

// Characters with which Vite, which builds the playground, does not work.
const cut = /[#?*]/.exec(root)?.[0]
if (cut !== undefined) {
  console.error(`error: ${root} has a ${cut} in its name, and the playground cannot be built there: rename or move the folder.`)
  process.exit(1)
}

const STAMPS = join(root, 'node_modules', '.fhir-ops')
const packages = workspacePackages()
const manifests = ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml'].map((file) => join(root, file))
const installInputs = [...manifests, ...packages.map(({ dir }) => join(dir, 'package.json'))]

once('install', {
  inputs: digest(installInputs),
  isThere: isInstalled,
  work: () => quietStep('Install dependencies', [...PNPM, 'install', '--frozen-lockfile', '--prefer-offline'], join(STAMPS, 'install.log')),
})
once('build', {
  inputs: digest([...installInputs, ...buildInputs()]),
  isThere: isBuilt,
  work: () => quietStep('Build all packages: about 40 s', [...PNPM, 'run', 'build'], join(STAMPS, 'build.log')),
})

/** Does the work unless it was done for the same inputs and its result is still there. */
function once(name, { inputs, isThere, work }) {
  const stamp = join(STAMPS, name)
  if (isThere() && existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs) return
  if (!work()) process.exit(1)
  mkdirSync(STAMPS, { recursive: true })
  writeFileSync(stamp, inputs)
}

function isInstalled() {
  return existsSync(join(root, 'node_modules', '.modules.yaml'))
}

function isBuilt() {
  return packages.every(({ dir, manifest }) => {
    const built = [...Object.values(manifest.exports ?? {}).map((target) => target.default), ...Object.values(manifest.bin ?? {})]
    return built.every((file) => file === undefined || file.includes('*') || existsSync(join(dir, file)))
  })
}

function buildInputs() {
  const shared = ['tsconfig.base.json', 'scripts/tsup-config.mjs', 'scripts/declarations.mjs', 'scripts/packages.mjs'].map((file) =>
    join(root, file),
  )
  return [...shared, ...packages.flatMap(({ dir }) => filesBelow(dir))]
}

function filesBelow(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', 'coverage'].includes(entry.name)) return []
    const path = join(dir, entry.name)
    return entry.isDirectory() ? filesBelow(path) : entry.name.endsWith('.test.ts') ? [] : [path]
  })
}

function digest(files) {
  const hash = createHash('sha256')
  for (const file of files.toSorted())
    hash
      .update(file)
      .update('\0')
      .update(existsSync(file) ? readFileSync(file) : '')
  return hash.digest('hex')
}
