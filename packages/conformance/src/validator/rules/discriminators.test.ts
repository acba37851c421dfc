import type { JsonObject } from 'fhir-ops/internal/json'
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
