import { describe, expect, it } from 'vitest'
import { after, attempt, withFinally, onDemand, type Awaitable } from './index.js'

const fail = (): never => {
  throw new Error('no')
}
const ways: readonly (readonly [string, <T>(work: () => Awaitable<T>) => Awaitable<T>])[] = [
  ['at once', (work) => work()],
  ['by a promise', async (work) => work()],
]

describe.each(ways)('what is known %s', (_, given) => {
  it('goes on to what follows', async () => {
    expect(
      await after(
        given(() => 2),
        (value) => value * 2,
      ),
    ).toBe(4)
  })

  it('is passed on, and its failure is handled', async () => {
    expect(await attempt(() => given(() => 1), String)).toBe(1)
    expect(await attempt(() => given<number>(fail), String)).toBe('Error: no')
  })

  it('is followed by the end, once, whatever becomes of it', async () => {
    const ends: string[] = []
    expect(
      await withFinally(
        () => given(() => 1),
        () => void ends.push('done'),
      ),
    ).toBe(1)
    await expect(async () =>
      withFinally(
        () => given(fail),
        () => void ends.push('failed'),
      ),
    ).rejects.toThrow('no')
    expect(ends).toEqual(['done', 'failed'])
  })
})

it('no promise is made where nothing has to be waited for', () => {
  expect(
    after(1, (value) =>
      attempt(
        () =>
          withFinally(
            () => value + 1,
            () => {},
          ),
        fail,
      ),
    ),
  ).toBe(2)
})

it('what is made on demand loads once, by the first call, and again where loading failed', async () => {
  let loads = 0
  const load = async (): Promise<string> => {
    loads++
    if (loads === 1) throw new Error('away')
    return 'loaded'
  }
  const loaded = onDemand(load)
  expect(loads).toBe(0)
  await expect(loaded()).rejects.toThrow('away')
  expect(await Promise.all([loaded(), loaded()])).toEqual(['loaded', 'loaded'])
  expect(loads).toBe(2)
})
