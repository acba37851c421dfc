import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { agreementOf, contextOf, type Agreement, agreementPage } from './agreement.js'
import { EXTENSIONS, PACKAGES, RELEASE } from './published-packages.js'

const COUNTS = fileURLToPath(new URL('../../passing/snapshots.json', import.meta.url))
const PAGE = fileURLToPath(new URL('../../../../docs/operations/snapshot-agreement.md', import.meta.url))
const known: Record<string, Agreement> = JSON.parse(readFileSync(COUNTS, 'utf8'))
const release = RELEASE.read() ?? []

describe('generated snapshots beside published ones', () => {
  for (const { name, read } of PACKAGES) {
    const definitions = read()
    test.skipIf(definitions === undefined)(
      `${name}${definitions === undefined ? ' (skipped: the package is not available)' : ''}`,
      async () => {
        const others = name === RELEASE.name ? [] : [...(EXTENSIONS.read() ?? []), ...(definitions ?? [])]
        const agreement = await agreementOf(contextOf(release, others), definitions ?? [])
        if (process.env['REFRESH_PASSING'] === '1') known[name] = agreement
        else expect(agreement).toEqual(known[name])
      },
    )
  }

  test('are counted on a page', async () => {
    if (process.env['REFRESH_PASSING'] === '1') writeFileSync(COUNTS, `${JSON.stringify(known, null, 1)}\n`)
    await expect(agreementPage(known)).toMatchFileSnapshot(PAGE)
  })
})
