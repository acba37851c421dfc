import { readFileSync } from 'node:fs'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { describe, expect, test } from 'vitest'
import { OTHER_RELEASES } from '../../core/src/validate/rules/extension/other-release-tables.js'

interface Elements {
  readonly elements: Readonly<Record<string, { readonly types?: readonly string[] }>>
}

const releases = ['1.0', '3.0', '4.3', '5.0'].map((release): readonly [string, Elements] => [
  release,
  JSON.parse(readFileSync(new URL(`../dist/elements-${release}.json`, import.meta.url), 'utf8')),
])

describe.each(releases)('what is known of FHIR %s without its definitions', (release, { elements }) => {
  const ctx = createContext({ storage: memoryStorage(), ...r4() })

  test('refuses no element that the release has', async () => {
    const extension = Object.keys(elements).map((path) => ({ url: `http://hl7.org/fhir/${release}/StructureDefinition/extension-${path}` }))
    const { findings } = await validate(ctx, { resource: { resourceType: 'Patient', extension } })
    const refused = findings.filter(({ kind, text }) => kind === 'extension-release' && text.includes('FHIR '))
    expect(refused.map(({ text }) => text)).toEqual([])
  })

  test('lists no element that the release has not', () => {
    const listed = OTHER_RELEASES[release]?.elements.split(' ').flatMap(pathsOf) ?? []
    expect(listed.length).toBeGreaterThan(0)
    expect(listed.filter((path) => !(path in elements) && !isOneOfChoice(elements, path))).toEqual([])
  })

  test('lists no type that the release has not', () => {
    const types = new Set(Object.keys(elements).map((path) => path.split('.')[0]))
    expect(OTHER_RELEASES[release]?.types.split(' ').filter((type) => !types.has(type))).toEqual([])
  })
})

/** `Account:currency,balance` */
function pathsOf(row: string): readonly string[] {
  const [type = '', names = ''] = row.split(':')
  return names.split(',').map((name) => `${type}.${name}`)
}

/** `Parameters.parameter.valueContactDetail` of the choice `Parameters.parameter.value`. */
function isOneOfChoice(elements: Elements['elements'], path: string): boolean {
  const capitals = Array.from(path.slice(path.lastIndexOf('.')).matchAll(/[A-Z]/g), ({ index }) => path.lastIndexOf('.') + index)
  return capitals.some((at) => (elements[path.slice(0, at)]?.types ?? []).length > 1)
}
