import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { describeSuite, suitePath } from '../../../../test/suites.js'

const FOLDER = suitePath('r4-examples')

/** Maps of R4 with a code that the complete code system does not have. */
const FAULTS: ReadonlySet<string> = new Set([
  'ConceptMap/cm-administrative-gender-v3 concept-map-code',
  'ConceptMap/sc-verificationresult-status concept-map-code',
  'ConceptMap/sc-medication-admin-status concept-map-code',
])

describeSuite('r4-examples', 'the R4 example resources', () => {
  test('have no errors outside the suspects', async () => {
    const suspects = JSON.parse(readFileSync(join(FOLDER, 'suspects.json'), 'utf8')) as object
    const ctx = createContext({ storage: memoryStorage(), definitions: [r4Definitions()], types: r4TypeModel() })
    const faults: string[] = []
    for (const line of exampleLines()) {
      const { resourceType, id } = JSON.parse(line) as { resourceType: string; id: string }
      const { findings } = await validate(ctx, { resource: line })
      const errors = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal')
      if (Object.hasOwn(suspects, `${resourceType}/${id}`)) continue
      const own = errors.filter(({ kind }) => !FAULTS.has(`${resourceType}/${id} ${kind}`))
      faults.push(...own.map(({ kind, expression, text }) => `${resourceType}/${id} ${kind} ${expression} ${text}`))
    }
    expect(faults).toEqual(BLANK_NARRATIVE)
  })
})

/** Its narrative is nothing but white space, which txt-2 forbids. */
const BLANK_NARRATIVE = [
  'EventDefinition/example invariant EventDefinition.text.div txt-2: The narrative must have some content that is not white space: text or an image.',
]

function exampleLines(): readonly string[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ndjson'))
  return files.flatMap((file) => readFileSync(join(FOLDER, file), 'utf8').split('\n')).filter((line) => line !== '')
}
