// The reference of every published entry, from its docstrings.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Application } from 'typedoc'
import { sourceEntries, workspacePackages } from '../scripts/packages.mjs'

const ENTRIES = join(import.meta.dirname, '.entries')

/** Writes the reference into a folder. @throws {Error} when it cannot be made. */
export async function writeReference(out) {
  const entryPoints = writeEntries()
  const app = await Application.bootstrap({
    name: 'fhir-ops reference',
    entryPoints,
    tsconfig: join(ENTRIES, 'tsconfig.json'),
    basePath: ENTRIES,
    // The sources are checked by the project's own types; here they are only read.
    skipErrorChecking: true,
    readme: 'none',
    disableGit: true,
    sourceLinkTemplate: 'https://github.com/fhir-ops/fhir-ops/blob/main/{path}#L{line}',
    displayBasePath: ENTRIES,
    includeHierarchySummary: false,
    excludeExternals: true,
    includeVersion: false,
    githubPages: false,
    logLevel: 'Error',
    navigationLinks: { Guide: '../index.html' },
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('The reference could not be made.')
  await app.generateDocs(project, out)
}

/** A file for each entry, under the name that people import. */
function writeEntries() {
  rmSync(ENTRIES, { recursive: true, force: true })
  const published = workspacePackages().filter(({ manifest }) => manifest.private !== true)
  const files = published.flatMap((pkg) =>
    sourceEntries(pkg)
      .filter(([subpath]) => !subpath.includes('/internal/'))
      .map(([subpath, source]) => {
        const file = join(ENTRIES, `${pkg.manifest.name}${subpath.slice(1)}.ts`)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, `export * from '${relative(dirname(file), source).replace(/\.ts$/, '.js')}'\n`)
        return file
      }),
  )
  writeFileSync(join(ENTRIES, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.json', include: [], files }))
  return files
}
