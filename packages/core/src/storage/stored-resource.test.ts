import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../json/index.js'
import { LONG_TEXT, storedResource } from './stored-resource.js'

describe('the parsed resource of a stored version', () => {
  it.each([
    ['a short text', 10],
    ['a long text, which is parsed in steps', LONG_TEXT],
  ])('is frozen in all its parts: a change throws and reaches nobody else (%s)', (_, length) => {
    const stored = storedPatient(length)
    if (stored.parsing !== undefined) finish(stored.parsing())
    const { resource } = stored
    expect(openParts(resource)).toStrictEqual([])
    expect(() => Object.assign(resource, { active: false })).toThrow(TypeError)
    expect(stored.resource).toStrictEqual(JSON.parse(stored.text))
  })

  it('can be copied by its reader, who may change the copy', () => {
    const copy = structuredClone(storedPatient(10).resource)
    expect(openParts(copy)).not.toStrictEqual([])
    expect(Object.assign(copy, { active: false })).toMatchObject({ id: 'a', active: false })
  })
})

function storedPatient(length: number) {
  const name = [{ family: 'x'.repeat(length), given: ['Ada', 'Augusta'], period: { start: '1835' } }]
  const text = `{"resourceType":"Patient","id":"a","meta":{},"name":${JSON.stringify(name)}}`
  return storedResource({ type: 'Patient', id: 'a', versionId: '1', lastUpdated: '2026-01-31T12:00:00.000Z', text })
}

function finish(work: Generator<unknown, JsonObject>): void {
  while (work.next().done !== true);
}

/** The paths of the objects and lists in a value that can be changed. */
function openParts(value: unknown, path = '$'): string[] {
  if (!Array.isArray(value) && !isObject(value)) return []
  const inside = Object.entries(value).flatMap(([name, member]) => openParts(member, `${path}.${name}`))
  return Object.isFrozen(value) ? inside : [path, ...inside]
}
