import { expect, test } from 'vitest'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { messageTests } from './findings-of.js'
import { profileOn } from './profile-on.js'

const add = messageTests('a list', /^slicing-unsound$/)

const sliced = (type: string, path: string, members: JsonObject = {}): JsonObject =>
  profileOn('Patient', 'http://a.org/StructureDefinition/sliced', [
    { id: 'Patient.name', path: 'Patient.name', slicing: { discriminator: [{ type, path }], rules: 'open' } },
    { id: 'Patient.name:one', path: 'Patient.name', sliceName: 'one', ...members },
  ])
const claiming = { resourceType: 'Patient', meta: { profile: ['http://a.org/StructureDefinition/sliced'] }, name: [{ text: 'A' }] }
add(
  'whose slices tell nothing by the discriminator: Could_not_match_discriminator_for_slice_in_profile',
  ['error|processing slicing-unsound Patient.name[0]'],
  claiming,
  [sliced('pattern', '$this')],
)
add(
  'whose slices tell nothing of a text: Could_not_match_discriminator_for_slice_in_profile',
  ['error|processing slicing-unsound Patient.name[0]'],
  claiming,
  [sliced('value', 'text')],
)
add('whose slices tell something', [], claiming, [sliced('pattern', '$this', { patternHumanName: { use: 'official' } })])
add('with slices by a coded element', [], claiming, [sliced('value', 'use')])

test('a slice that tells nothing is judged together with the same slice of the profile that is claimed, whichever was validated before', async () => {
  const members = { patternHumanName: { use: 'official' } }
  const told = {
    ...profileOn('Patient', 'http://a.org/StructureDefinition/told', [
      { id: 'Patient.name:one', path: 'Patient.name', sliceName: 'one', ...members },
    ]),
    baseDefinition: 'http://a.org/StructureDefinition/sliced',
  }
  const { indexer, ...release } = r4()
  const stored = [sliced('pattern', '$this'), told].map((profile, index) => ({ ...profile, id: `p${index}` }))
  const ctx = createContext({ storage: memoryStorage(stored, { indexer }), ...release })
  const kinds: (readonly string[])[] = []
  for (const name of ['told', 'sliced', 'told', 'sliced']) {
    const { findings } = await validate(ctx, {
      resource: { ...claiming, meta: { profile: [`http://a.org/StructureDefinition/${name}`] } },
    })
    kinds.push(findings.map(({ kind }) => kind).filter((kind) => kind === 'slicing-unsound'))
  }
  expect(kinds).toEqual([[], ['slicing-unsound'], [], ['slicing-unsound']])
})
