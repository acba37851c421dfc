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

const UNKNOWN = 'http://a.org/StructureDefinition/unknown'
const ofUnknown = { type: [{ code: 'HumanName', profile: [UNKNOWN] }] }
for (const [type, path] of [
  ['profile', '$this'],
  ['value', 'use'],
  ['pattern', '$this'],
  ['exists', 'use'],
] as const)
  add(
    `whose slice has a profile that is not known, told by ${type} of ${path}: SLICING_CANNOT_BE_EVALUATED`,
    ['error|processing slicing-unsound Patient.name[0]'],
    claiming,
    [sliced(type, path, ofUnknown)],
  )
add('whose slice has a profile that is not known, and says itself what tells it', [], claiming, [
  sliced('pattern', '$this', { ...ofUnknown, patternHumanName: { use: 'official' } }),
])

const referring = (type: string, path: string, target: string): JsonObject =>
  profileOn('Patient', 'http://a.org/StructureDefinition/sliced', [
    { id: 'Patient.generalPractitioner', path: 'Patient.generalPractitioner', slicing: { discriminator: [{ type, path }], rules: 'open' } },
    {
      id: 'Patient.generalPractitioner:one',
      path: 'Patient.generalPractitioner',
      sliceName: 'one',
      type: [{ code: 'Reference', targetProfile: [target] }],
    },
  ])
const treated = { ...claiming, generalPractitioner: [{ reference: 'Practitioner/1' }] }
for (const [type, path] of [
  ['profile', 'resolve()'],
  ['type', 'resolve()'],
  ['value', 'resolve().active'],
] as const)
  add(
    `whose slice refers to a profile that is not known, told by ${type} of ${path}: SLICING_CANNOT_BE_EVALUATED`,
    ['error|processing slicing-unsound Patient.generalPractitioner[0]'],
    treated,
    [referring(type, path, UNKNOWN)],
  )
add('whose slice refers to a type', [], treated, [referring('type', 'resolve()', 'http://hl7.org/fhir/StructureDefinition/Practitioner')])
add(
  'of extensions, in a slice by a definition that is not known',
  [],
  { ...claiming, extension: [{ url: 'http://example.org/x', valueString: 'x' }] },
  [
    profileOn('Patient', 'http://a.org/StructureDefinition/sliced', [
      { id: 'Patient.extension', path: 'Patient.extension', slicing: { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' } },
      {
        id: 'Patient.extension:one',
        path: 'Patient.extension',
        sliceName: 'one',
        min: 1,
        type: [{ code: 'Extension', profile: ['http://example.org/x'] }],
      },
    ]),
  ],
)

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
