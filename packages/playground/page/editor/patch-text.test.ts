import { expect, test } from 'vitest'
import type { PatchStep } from '../fhir/outcome.js'
import { patchText } from './patch-text.js'

const TEXT = `{
  "resourceType": "Patient",
  "active": "true",
  "multipleBirthInteger": 1.50,
  "name": { "family": "Lovell" },
  "contact": [],
  "given": ["Ada", "Bo"],
  "a/b": { "~": 1 }
}
`

test.each<[string, readonly PatchStep[], string, string]>([
  ['replaces a value', [{ op: 'replace', path: '/active', value: true }], '"active": "true"', '"active": true'],
  ['renames a member in its place', [{ op: 'move', from: '/active', path: '/Active' }], '"active": ', '"Active": '],
  ['removes a member with its comma', [{ op: 'remove', path: '/contact' }], '  "contact": [],\n', ''],
  ['removes the last member', [{ op: 'remove', path: '/a~1b' }], ',\n  "a/b": { "~": 1 }', ''],
  ['removes an item', [{ op: 'remove', path: '/given/0' }], '"Ada", ', ''],
  ['adds an item in front', [{ op: 'add', path: '/given/0', value: 'Eva' }], '["Ada"', '["Eva", "Ada"'],
  ['adds an item at the end', [{ op: 'add', path: '/given/-', value: 'Eva' }], '"Bo"]', '"Bo", "Eva"]'],
  ['adds to an empty array', [{ op: 'add', path: '/contact/0', value: {} }], '[]', '[{}]'],
  ['adds a member on a line of its own', [{ op: 'add', path: '/id', value: 'x' }], '{ "~": 1 }', '{ "~": 1 },\n  "id": "x"'],
  ['adds over a member that is there', [{ op: 'add', path: '/active', value: 1 }], '"true"', '1'],
  ['reads escaped names', [{ op: 'replace', path: '/a~1b/~0', value: 2 }], '{ "~": 1 }', '{ "~": 2 }'],
  [
    'wraps a value in an array where it stands, as the validator asks for it',
    [
      { op: 'move', from: '/name', path: '/#' },
      { op: 'add', path: '/name', value: [] },
      { op: 'move', from: '/#', path: '/name/0' },
    ],
    '{ "family": "Lovell" }',
    '[{ "family": "Lovell" }]',
  ],
])('%s and leaves everything else as it is', (_, patch, before, after) => {
  expect(TEXT).toContain(before)
  expect(patchText(TEXT, patch)).toBe(TEXT.replace(before, after))
})

test.each<[string, string, PatchStep]>([
  ['a place that is not there', '{}', { op: 'replace', path: '/x/y', value: 1 }],
  ['a text that is no JSON', '{ "a": 1, }', { op: 'replace', path: '/a', value: 2 }],
  ['a member of a text', '{ "a": "b" }', { op: 'add', path: '/a/b', value: 2 }],
])('gives nothing for %s', (_, text, step) => {
  expect(patchText(text, [step])).toBeUndefined()
})
