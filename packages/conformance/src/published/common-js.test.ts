import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sourceEntries, workspacePackages } from '../../../../scripts/packages.mjs'

/** The contract is apart: vitest, which it imports, refuses `require`. */
const entries = workspacePackages()
  .filter(({ manifest }) => manifest.name !== '@fhir-ops/storage-contract')
  .flatMap((pkg) =>
    sourceEntries(pkg).map(([subpath, source]) => ({
      entry: pkg.manifest.name + subpath.slice(1),
      source,
      manifest: join(pkg.dir, 'package.json'),
    })),
  )

// An entry that has only types gives no names to either.
test.each(entries)('$entry can be required by CommonJS, with the names that its source exports', async ({ entry, source, manifest }) => {
  const required: object = createRequire(manifest)(entry)
  const exported: object = await import(source)
  expect(Object.keys(required).toSorted()).toEqual(Object.keys(exported).toSorted())
})
