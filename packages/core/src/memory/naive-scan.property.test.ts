import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { query, scan, step } from '../../test/random-queries.js'
import { scanOf } from '../../test/storage-answers.js'
import {
  writableText,
  type Comparison,
  type Condition,
  type IndexEntry,
  type SearchQuery,
  type SortKey,
  type Storage,
} from '../storage/index.js'
import { memoryStorage } from './index.js'

/** A resource of the model: what a plain scan looks at. */
interface Item {
  readonly type: string
  readonly id: string
  readonly entries: readonly IndexEntry[]
  readonly updated: number
}

describe('memoryStorage', () => {
  it('answers every query as a plain scan over the resources does', async () => {
    const round = fc.tuple(fc.array(step, { maxLength: 15 }), fc.array(query, { maxLength: 4 }), fc.array(scan, { maxLength: 2 }))
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 4 }), async (rounds) => {
        let at = 0
        const storage = memoryStorage([], { now: () => new Date(at) })
        const items = new Map<string, Item>()
        for (const [steps, queries, scans] of rounds) {
          for (const { op, ...rest } of steps) {
            at++
            await apply(storage, op, rest)
            items.delete(`${rest.type}/${rest.id}`)
            if (op === 'put') items.set(`${rest.type}/${rest.id}`, { ...rest, updated: at })
          }
          for (const asked of queries) await expectSame(storage, [...items.values()], asked)
          for (const asked of scans) expect(await scanOf(storage, asked)).toEqual(await scanOf({ search: storage.search }, asked))
        }
      }),
      { numRuns: rounds({ quick: 100, all: 500 }) },
    )
  })
})

async function apply(storage: Storage, op: 'put' | 'delete', item: Omit<Item, 'updated'>): Promise<void> {
  const source = { resourceType: item.type }
  const put = { op: 'put', ...item, text: writableText(item.type, item.id, source) } as const
  await storage.write([op === 'put' ? put : { op: 'delete', type: item.type, id: item.id }])
}

async function expectSame(storage: Storage, items: readonly Item[], asked: SearchQuery): Promise<void> {
  const expected = items.filter((item) => item.type === asked.type && matches(items, item, asked.where))
  expected.sort((a, b) => order(a, b, asked.sort ?? []))
  expect(await storage.count(asked)).toBe(expected.length)
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await storage.search({ ...asked, ...(after !== undefined && { after }) })
    expect(page.items.length).toBeLessThanOrEqual(asked.limit ?? 100)
    found.push(...page.items.map((item) => item.id))
    after = page.next
  } while (after !== undefined)
  expect(found).toEqual(expected.map((item) => item.id))
}

function matches(items: readonly Item[], item: Item, where: Condition): boolean {
  switch (where.kind) {
    case 'entry':
      return item.entries.some((one) => one.param === where.param && where.all.every((test) => holds(one, test)))
    case 'and':
      return where.conditions.every((part) => matches(items, item, part))
    case 'or':
      return where.conditions.some((part) => matches(items, item, part))
    case 'not':
      return !matches(items, item, where.condition)
    case 'id':
      return where.ids.includes(item.id)
    case 'lastUpdated':
      return item.updated >= (where.from ?? 0) && item.updated <= (where.to ?? Infinity)
    default:
      return items.some((other) => {
        const [from, to] = where.kind === 'refersTo' ? [item, other] : [other, item]
        const linked = from.entries.some((one) => one.param === where.param && one.system === to.type && one.value === to.id)
        return linked && other.type === where.query.type && matches(items, other, where.query.where)
      })
  }
}

function holds(entryOf: IndexEntry, test: Comparison): boolean {
  const value = entryOf[test.field]
  if (value === undefined || test.op === 'absent') return value === undefined && test.op === 'absent'
  if (test.op === 'in') return test.operands.some((operand) => operand === value)
  const { operand } = test
  const tests = {
    eq: value === operand,
    prefix: String(value).startsWith(String(operand)),
    contains: String(value).includes(String(operand)),
    suffix: String(value).endsWith(String(operand)),
    lt: value < operand,
    le: value <= operand,
    gt: value > operand,
    ge: value >= operand,
  }
  return tests[test.op]
}

function order(a: Item, b: Item, sort: readonly SortKey[]): number {
  for (const key of sort) {
    const [left, right] = [keyOf(a, key), keyOf(b, key)]
    if (left === right) continue
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1
    return left < right === key.descending ? 1 : -1
  }
  return a.id < b.id ? -1 : 1
}

function keyOf(item: Item, { param: code, field, descending }: SortKey): string | number | undefined {
  if (field === 'id') return item.id
  if (field === 'lastUpdated') return item.updated
  const values = item.entries.flatMap((one) => (one.param === code && one[field] !== undefined ? [one[field]] : []))
  values.sort((x, y) => (x < y ? -1 : Number(x > y)))
  return descending ? values.at(-1) : values[0]
}
