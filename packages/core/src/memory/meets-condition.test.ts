import { expect, test } from 'vitest'
import type { Condition, IndexEntry, PutEntry } from '../storage/index.js'
import { meetsCondition, memoryStorage } from './index.js'

const updated = Date.parse('2026-05-01T00:00:00Z')
const entries: readonly IndexEntry[] = [
  { param: 'code', system: 'urn:s', value: 'a' },
  { param: 'code', system: 'urn:t', value: 'b' },
  { param: 'name', text: 'anna' },
  { param: 'date', low: 10, high: 20 },
]
const put: PutEntry = { op: 'put', type: 'Basic', id: 'x', text: '{"resourceType":"Basic","id":"x","meta":{}}', entries }

const code = (system: string, value: string): Condition => ({
  kind: 'entry',
  param: 'code',
  all: [
    { field: 'system', op: 'eq', operand: system },
    { field: 'value', op: 'eq', operand: value },
  ],
})
const CONDITIONS: readonly Condition[] = [
  code('urn:s', 'a'),
  code('urn:s', 'b'),
  { kind: 'entry', param: 'name', all: [{ field: 'text', op: 'prefix', operand: 'an' }] },
  { kind: 'entry', param: 'name', all: [{ field: 'value', op: 'absent' }] },
  { kind: 'entry', param: 'date', all: [{ field: 'low', op: 'ge', operand: 10 }] },
  { kind: 'entry', param: 'date', all: [{ field: 'high', op: 'lt', operand: 20 }] },
  { kind: 'entry', param: 'none', all: [] },
  { kind: 'id', ids: ['x', 'y'] },
  { kind: 'id', ids: ['y'] },
  { kind: 'lastUpdated', from: updated, to: updated },
  { kind: 'lastUpdated', from: updated + 1 },
  { kind: 'refersTo', param: 'code', query: { type: 'Patient', where: { kind: 'and', conditions: [] } } },
  { kind: 'referredBy', param: 'code', query: { type: 'Patient', where: { kind: 'and', conditions: [] } } },
]
const combined = CONDITIONS.flatMap((condition): Condition[] => [
  condition,
  { kind: 'not', condition },
  { kind: 'and', conditions: [condition, code('urn:s', 'a')] },
  { kind: 'or', conditions: [condition, code('urn:s', 'b')] },
])

test.each([...combined, { kind: 'and', conditions: [] }, { kind: 'or', conditions: [] }] satisfies Condition[])(
  'a resource meets %j exactly where a storage with nothing else finds it',
  async (condition) => {
    const storage = memoryStorage([], { now: () => new Date(updated) })
    await storage.write([put])
    expect(meetsCondition({ id: 'x', entries, updated }, condition)).toBe((await storage.count({ type: 'Basic', where: condition })) === 1)
  },
)
