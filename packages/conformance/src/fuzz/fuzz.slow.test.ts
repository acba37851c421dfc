import { expect, test } from 'vitest'
import { fuzz, type FuzzTarget } from './fuzz.js'
import { ecl } from './parser-targets.js'

test('what the inputs leave behind is reported, and garbage is not', async () => {
  const kept: string[] = []
  const text = (): string => Buffer.alloc(4_096, 'a').toString('latin1')
  const target: FuzzTarget<string> = { ...ecl, input: text, take: () => {} }
  await expect(fuzz(target, { rounds: 10_000, seed: 1 })).resolves.toBeUndefined()
  await expect(fuzz({ ...target, take: (input) => kept.push(input) }, { rounds: 10_000, seed: 1 })).rejects.toThrow(
    /^ECL: 10000 inputs left \d+ MB in use/,
  )
})
