import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../program.js'
import type { Source } from '../load/sources.js'
import { checkInOrder } from './check-in-order.js'

let folder = ''
const at = (name: string): string => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-many-'))
  const lines = Array.from({ length: 1_234 }, (_, index) =>
    JSON.stringify({ resourceType: 'Patient', id: `p${index}`, ...(index % 7 === 3 && { foo: index }) }),
  )
  await writeFile(at('many.ndjson'), lines.join('\n'))
})

afterAll(() => rm(folder, { recursive: true }))

async function validated(...args: readonly string[]) {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line), stdin: () => Promise.resolve('') }
  const status = await run(['validate', ...args], io)
  return { status, out, err }
}

describe('many resources', () => {
  test('have the same findings in the same order on several threads as on one', async () => {
    const one = await validated(at('many.ndjson'), '--threads', '1', '--format', 'github')
    const three = await validated(at('many.ndjson'), '--threads', '3', '--format', 'github')
    expect(one.out).toHaveLength(176)
    expect(three).toMatchObject({ status: 1, out: one.out })
  })

  test('stop with the reason when a thread cannot go on', async () => {
    const { status, err } = await validated(at('many.ndjson'), '--threads', '2', '--profile', 'http://example.org/none')
    expect([status, err.join('\n')]).toEqual([1, expect.stringContaining('profile-not-found')])
  })

  test('of which one is very large have that one done where memory is not limited, in its turn', async () => {
    const source = (text: string, line: number): Source => ({ text, place: `a:${line}`, file: 'a', line })
    const large = `{"resourceType":"Patient","id":"${'x'.repeat(2_000_000)}"}`
    const texts = ['{"resourceType":"Patient"}', large, '{"resourceType":"Patient","active":true}']
    async function* sources(): AsyncGenerator<Source> {
      yield* texts.map((text, index) => source(text, index + 1))
    }
    const doneHere: number[] = []
    const alone = async (one: Source) => {
      doneHere.push(one.line)
      return { source: one, result: { valid: true, findings: [], profiles: [] } }
    }
    const options = { engine: { storage: 'memory', load: [] }, asked: {} }
    const lines: number[] = []
    for await (const checked of checkInOrder(sources(), { alone, threads: 2, areMany: true, options })) lines.push(checked.source.line)
    expect(lines).toEqual([1, 2, 3])
    expect(doneHere).toContain(2)
    expect(doneHere).not.toContain(3)
  })

  test.each(['0', 'x', '1.5', '100'])('are not validated on %s threads', async (count) => {
    expect((await validated(at('many.ndjson'), '--threads', count)).status).toBe(2)
  })
})
