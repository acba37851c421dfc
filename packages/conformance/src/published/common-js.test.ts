import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sourceEntries, workspacePackages } from '../../../../scripts/packages.mjs'

/** Those that import vitest, which refuses `require`, or need what Jest puts into its tests. */
const OF_TEST_RUNNERS = ['@fhir-ops/storage-contract', '@fhir-ops/testing/vitest', '@fhir-ops/testing/jest']
const entries = workspacePackages()
  .flatMap((pkg) =>
    sourceEntries(pkg).map(([subpath, source]) => ({
      entry: pkg.manifest.name + subpath.slice(1),
      source,
      manifest: join(pkg.dir, 'package.json'),
    })),
  )
  .filter(({ entry }) => !OF_TEST_RUNNERS.includes(entry))

// An entry that has only types gives no names to either.
test.each(entries)('$entry can be required by CommonJS, with the names that its source exports', async ({ entry, source, manifest }) => {
  const required: object = createRequire(manifest)(entry)
  const exported: object = await import(source)
  expect(Object.keys(required).toSorted()).toEqual(Object.keys(exported).toSorted())
})
