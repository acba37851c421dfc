import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@fhir-ops/sqlite'
import { closure } from 'fhir-ops/closure'
import { definitionEntries } from 'fhir-ops/internal/content'
import { createContext } from 'fhir-ops/context'
import { putResource } from 'fhir-ops/storage'
import { afterAll, beforeAll, expect, it } from 'vitest'

const SYSTEM = 'http://example.org/cs'
const CODES = Array.from({ length: 20 }, (_, i) => `c${i}`)

/** Each code below the one before. */
const CHAIN = {
  resourceType: 'CodeSystem',
  id: 'chain',
  url: SYSTEM,
  version: '1',
  status: 'active',
  content: 'complete',
  concept: CODES.map((code, i) => ({ code, ...(i > 0 && { property: [{ code: 'parent', valueCode: CODES[i - 1] }] }) })),
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'closure-'))
})
afterAll(() => rm(folder, { recursive: true }))

it('a closure table in a file takes additions from all sides at once, and is there after reopening', async () => {
  const file = join(folder, 'data.db')
  const [db, other] = [await openSqlite(file), await openSqlite(file)]
  await db.storage.write([putResource({ type: 'CodeSystem', id: 'chain', source: CHAIN }, definitionEntries)])
  const [here, there] = [createContext({ storage: db.storage }), createContext({ storage: other.storage })]
  await closure(here, { name: 't' })
  const added = await Promise.all(
    CODES.map((code, i) => closure(i % 2 === 0 ? here : there, { name: 't', concepts: [{ system: SYSTEM, code }] })),
  )
  expect(new Set(added.map(({ version }) => version)).size).toBe(20)
  await db.close()
  await other.close()
  const again = await openSqlite(file)
  const { version, entries } = await closure(createContext({ storage: again.storage }), { name: 't', since: '0' })
  expect([version, entries.length, new Set(entries.map(({ code, target }) => `${code} ${target}`)).size]).toEqual(['20', 190, 190])
  await again.close()
})
