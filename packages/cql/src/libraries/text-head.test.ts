import { expect, test } from 'vitest'
import { namedInHead, withoutNamespaces } from './text-head.js'

test.each([
  ["include A version '1' called B", ["include A '1'"]],
  [
    "library L version '1' using FHIR version '4.0.1' include FHIRHelpers version '4.0.1' include A",
    ["using FHIR '4.0.1'", "include FHIRHelpers '4.0.1'", 'include A'],
  ],
  ["include\tA\n  version\r\n  '1'\n  called B", ["include A '1'"]],
  ['include "A"', ['include A']],
  ["include org.example.A version '1'", ["include org.example|A '1'"]],
  ['/*\ninclude No\n*/\ninclude A // include No\n// include No\ninclude B', ['include A', 'include B']],
  ['codesystem "include No": \'include No\' include A', ['include A']],
  ['valueset "V": \'http://x/*\' include A valueset "W": \'http://y/*\'', ['include A']],
  ["include A define X: 'include B' define Y: include", ['include A']],
  ['', []],
])('the head of %j', (text, expected) => {
  const named = namedInHead(text).map(({ keyword, id, namespace, version }) => {
    const path = namespace === undefined ? id : `${namespace}|${id}`
    return version === undefined ? `${keyword} ${path}` : `${keyword} ${path} '${version}'`
  })
  expect(named).toEqual(expected)
})

test('namespaces of libraries become blanks', () => {
  const text = "library org.L version '1' using FHIR include org.example.A called B // include org.C\ndefine X: include.x"
  expect(withoutNamespaces(text)).toBe(
    "library     L version '1' using FHIR include             A called B // include org.C\ndefine X: include.x",
  )
})
