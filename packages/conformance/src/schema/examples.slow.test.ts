import addFormats from 'ajv-formats'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { createContext } from 'fhir-ops/context'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { jsonSchema } from 'fhir-ops/schema'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { beforeAll, expect, test } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import { describeSuite } from '../../../../test/suites.js'
import { damage, exampleTexts } from '../validator/damaged-examples.js'

/** What the schema finds too, whatever else it cannot say: where it takes a resource, the validator reports none of these. */
const SAID: ReadonlySet<string> = new Set([
  'unknown-property',
  'unknown-resource-type',
  'array-expected',
  'array-not-allowed',
  'object-expected',
  'empty-array',
  'several-choices',
  'too-many',
  'primitive-type',
  'primitive-form',
  'id-form',
])

const ODD = [null, [], {}, '', ' ', 'x', 0, 1.5, true, [null], [[]], [{}], { foo: 1 }, ['a', null], 'oid:1', '2020-13-01', { id: 'x' }]

describeSuite('r4-examples', 'the schema of all resources', () => {
  const ctx = createContext({ storage: memoryStorage(), ...r4(), limits: { maxIssues: 10_000, operationTimeoutMs: 60_000 } })
  let check: ValidateFunction

  beforeAll(async () => {
    const { schema } = await jsonSchema(ctx, { url: 'Resource', resources: 'whole' })
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false, code: { optimize: false } })
    addFormats.default(ajv)
    check = ajv.compile(schema)
  })

  /** What each side says of a resource: whether the schema takes it, and the errors of the validator. */
  async function both(resource: JsonObject): Promise<{ taken: boolean; kinds: readonly string[]; refusal: string }> {
    const taken = check(resource)
    const refusal = JSON.stringify(check.errors?.slice(0, 1))
    const { findings } = await validate(ctx, { resource })
    const errors = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal')
    return { taken, kinds: errors.map(({ kind }) => kind), refusal }
  }

  test('takes every example that is valid, and what is wrong with the others is what a schema cannot say', async () => {
    for (const text of exampleTexts()) {
      const resource: unknown = JSON.parse(text)
      if (!isObject(resource)) continue
      const { taken, kinds, refusal } = await both(resource)
      const name = `${resource['resourceType']}/${resource['id']}`
      expect(taken || kinds.length > 0, `${name} ${refusal}`).toBe(true)
      if (taken)
        expect(
          kinds.filter((kind) => SAID.has(kind)),
          name,
        ).toEqual([])
    }
  })

  test('agrees with the validator on damaged examples but for what a schema cannot say', async () => {
    const examples = exampleTexts().filter((text) => text.length < 12_000)
    const damaged = fc.tuple(
      fc.constantFrom(...examples),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...ODD)), { minLength: 1, maxLength: 2 }),
    )
    expect(await both({ resourceType: 'Patient', active: 'x' })).toMatchObject({ taken: false, kinds: ['primitive-type'] })
    await fc.assert(
      fc.asyncProperty(damaged, async ([text, damages]) => {
        const resource: unknown = JSON.parse(text)
        if (!isObject(resource)) return
        for (const [place, odd] of damages) damage(resource, place, odd)
        const { taken, kinds, refusal } = await both(resource)
        if (kinds.length === 0) expect(taken, refusal).toBe(true)
        if (taken) expect(kinds.filter((kind) => SAID.has(kind))).toEqual([])
      }),
      { numRuns: rounds({ quick: 150, all: 1_500 }), seed: SEED },
    )
  })
})
