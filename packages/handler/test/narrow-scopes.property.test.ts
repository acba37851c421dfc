import { createContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { callerOf, parseScope, type Caller } from '../src/auth/caller.js'
import { narrowedStorage } from '../src/content/narrowed-storage.js'

const release = r4()
const PATIENTS = ['p', 'q'] as const
const STATUSES = ['final', 'amended'] as const

interface Sample {
  readonly patient: (typeof PATIENTS)[number]
  readonly status: (typeof STATUSES)[number]
}

/** A scope in its parts, so that a naive reading of it needs no parser. */
interface Scope {
  readonly level: 'patient' | 'user'
  readonly type: 'Observation' | 'Encounter' | '*'
  readonly letters: string
  readonly status?: (typeof STATUSES)[number] | undefined
}

const samples = fc.array(fc.record({ patient: fc.constantFrom(...PATIENTS), status: fc.constantFrom(...STATUSES) }), { maxLength: 6 })
const scopes = fc.array(
  fc.record({
    level: fc.constantFrom('patient', 'user'),
    type: fc.constantFrom('Observation', 'Encounter', '*'),
    letters: fc.constantFrom('r', 's', 'rs', 'cud', 'cruds'),
    status: fc.constantFrom(undefined, ...STATUSES),
  }),
  { minLength: 1, maxLength: 3 },
)

const textOf = ({ level, type, letters, status }: Scope): string =>
  `${level}/${type}.${letters}${status === undefined ? '' : `?status=${status}`}`

function grants(scope: Scope, letter: string, { patient, status }: Sample): boolean {
  const isUnderstood = scope.type !== '*' || scope.status === undefined
  const isOfType = scope.type !== 'Encounter'
  const isInReach = scope.level === 'user' || patient === 'p'
  return isUnderstood && isOfType && isInReach && scope.letters.includes(letter) && (scope.status ?? status) === status
}

const resourceOf = ({ patient, status }: Sample, index: number): JsonObject => ({
  resourceType: 'Observation',
  id: `o${index}`,
  status,
  code: { text: 'x' },
  subject: { reference: `Patient/${patient}` },
})

async function viewOf(storage: Storage, asked: readonly Scope[]): Promise<{ readonly caller: Caller; readonly view: Storage }> {
  const ctx = createContext({ storage, ...release })
  const principal = { sub: 'ann', loginId: 'l', scopes: asked.map(textOf), claims: {}, expiresAt: 0, patient: 'p' }
  const caller = await callerOf(
    principal,
    { defaultPolicy: 'deny' },
    { parse: parseScope, ctx, base: 'http://x/fhir/R4', maxParameters: 10 },
  )
  return { caller, view: caller.isNarrowed ? narrowedStorage(ctx, caller, release.indexer) : storage }
}

it('narrow scopes show exactly what a naive reading of them grants', async () => {
  await fc.assert(
    fc.asyncProperty(samples, scopes, async (stored, asked) => {
      const { caller, view } = await viewOf(memoryStorage(stored.map(resourceOf), { indexer: release.indexer }), asked)
      const granted = (letter: string): string[] =>
        stored.flatMap((sample, index) => (asked.some((scope) => grants(scope, letter, sample)) ? [`o${index}`] : []))
      const query = { type: 'Observation', where: { kind: 'and', conditions: [] } } as const
      const isSearchable = caller.decide('search', 'Observation') === 'allow'
      const found = isSearchable ? (await view.search(query)).items.map(({ id }) => id) : []
      const isReadable = caller.decide('read', 'Observation') === 'allow'
      const read = await Promise.all(
        stored.map(async (_sample, index) => (isReadable ? ((await view.read('Observation', `o${index}`))?.id ?? []) : [])),
      )
      expect([found, read.flat()]).toEqual([granted('s'), granted('r')])
      if (isSearchable) expect(await view.count(query)).toBe(found.length)
    }),
  )
})
