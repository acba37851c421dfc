import { describe, expect, it } from 'vitest'
import { after, attempt, attemptTo, type Awaitable } from './index.js'

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
      await attemptTo(
        () => given(() => 1),
        () => void ends.push('done'),
      ),
    ).toBe(1)
    await expect(async () =>
      attemptTo(
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
          attemptTo(
            () => value + 1,
            () => {},
          ),
        fail,
      ),
    ),
  ).toBe(2)
})
