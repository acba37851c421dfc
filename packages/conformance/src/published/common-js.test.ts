import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sourceEntries, workspacePackages } from '../../../../scripts/packages.mjs'

/** The contract is apart: vitest, which it imports, refuses `require`. */
const entries = workspacePackages()
  .filter(({ manifest }) => manifest.name !== '@fhir-ops/storage-contract')
  .flatMap((pkg) =>
    sourceEntries(pkg).map(([subpath]) => ({ entry: pkg.manifest.name + subpath.slice(1), manifest: join(pkg.dir, 'package.json') })),
  )

test.each(entries)('$entry can be required by CommonJS', ({ entry, manifest }) => {
  const required: object = createRequire(manifest)(entry)
  expect(Object.keys(required)).not.toEqual([])
})
