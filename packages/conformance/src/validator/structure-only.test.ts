import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { rounds } from '../../../../test/effort.js'
import { describeSuite } from '../../../../test/suites.js'
import { damage, exampleTexts } from './damaged-examples.js'

/** The kinds that are about structure alone, when no profile says them. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'unknown-property',
  'unknown-resource-type',
  'array-expected',
  'array-not-allowed',
  'object-expected',
  'null-not-allowed',
  'empty-array',
  'empty-object',
  'several-choices',
  'too-few',
  'too-many',
  'primitive-type',
  'primitive-form',
  'primitive-empty',
  'primitive-range',
  'primitive-space',
  'primitive-too-long',
])

const ODD = [null, [], {}, '', ' ', 'x', 0, 1.5, true, [null], [[]], [{}], { foo: 1 }, ['a', null], 'oid:1', '2020-13-01']

describeSuite('r4-examples', 'checks of the structure alone', () => {
  const ctx = createContext({
    storage: memoryStorage(),
    definitions: [r4Definitions()],
    types: r4TypeModel(),
    limits: { maxIssues: 10_000 },
  })

  async function found(resource: JsonObject, checks: 'all' | 'structure'): Promise<readonly string[]> {
    const { findings } = await validate(ctx, { resource, checks })
    const about = findings.filter(({ kind, profile }) => profile === undefined && STRUCTURE.has(kind))
    return about.map(({ kind, expression }) => `${kind} ${expression}`)
  }

  test('find in the examples, whole and damaged, what all checks find about structure', async () => {
    const examples = exampleTexts().filter((text) => text.length < 20_000)
    const damaged = fc.tuple(fc.constantFrom(...examples), fc.array(fc.tuple(fc.nat(), fc.constantFrom(...ODD)), { maxLength: 2 }))
    await fc.assert(
      fc.asyncProperty(damaged, async ([text, damages]) => {
        const resource: unknown = JSON.parse(text)
        if (!isObject(resource)) return
        for (const [place, odd] of damages) damage(resource, place, odd)
        expect(await found(resource, 'structure')).toEqual(await found(resource, 'all'))
      }),
      { numRuns: rounds({ quick: 100, all: 400 }), seed: 4 },
    )
  })
})
