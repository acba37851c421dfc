import { describe, expect, it } from 'vitest'
import { createKeyedTurns } from './keyed-turns.js'

describe('keyed turns', () => {
  it('let work that shares a key run one after the other, in order, and other work at once', async () => {
    const turns = createKeyedTurns()
    const seen: string[] = []
    const gate = Promise.withResolvers<void>()
    const first = turns(['a', 'b'], async () => {
      await gate.promise
      seen.push('first')
    })
    const second = turns(['b'], async () => void seen.push('second'))
    const third = turns(['c', 'b'], async () => void seen.push('third'))
    await turns(['x'], async () => void seen.push('other'))
    await turns([], async () => void seen.push('none'))
    gate.resolve()
    await Promise.all([first, second, third])
    expect(seen).toEqual(['other', 'none', 'first', 'second', 'third'])
  })

  it('go on after work that failed, which tells its own caller', async () => {
    const turns = createKeyedTurns()
    const failed = turns(['a'], () => Promise.reject(new Error('no')))
    const next = turns(['a'], async () => 'yes')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('yes')
  })
})
