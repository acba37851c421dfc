import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { describe, expect, it } from 'vitest'
import { evaluateInThreads } from '../src/node/index.js'

const INPUT = { measure: 'Measure/x', periodStart: '2020', periodEnd: '2020' }
const moduleOf = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`
const NEVER = moduleOf('export const openThread = () => new Promise(() => setInterval(() => {}, 1000))')
const contextWith = (signal?: AbortSignal): ReturnType<typeof createContext> => {
  const ctx = createContext({ storage: memoryStorage() })
  return signal === undefined ? ctx : { ...ctx, signal }
}

describe('evaluateInThreads', () => {
  it('ends all threads when it is aborted', async () => {
    const stop = new AbortController()
    const evaluating = evaluateInThreads(contextWith(stop.signal), INPUT, { threads: 3, module: NEVER })
    setImmediate(() => stop.abort())
    await expect(evaluating).rejects.toMatchObject({ code: 'aborted' })
  })

  it.each([
    [
      'ends',
      'export const openThread = (data) => data.fails ? process.exit(3) : new Promise(() => setInterval(() => {}, 1000))',
      /^Part 1 of 1 ended/,
    ],
    ['fails', "export const openThread = () => { throw new Error('no such file') }", /^Part 1 of 1: no such file$/],
    ['cannot be opened', 'export const open = 1', /^Part 1 of 1: .* exports no function openThread\.$/],
  ])('is refused by the name of the part whose thread %s', async (_, text, message) => {
    const evaluating = evaluateInThreads(contextWith(), INPUT, { threads: 1, module: moduleOf(text), data: { fails: true } })
    await expect(evaluating).rejects.toThrow(message)
  })

  it.each([
    [{ threads: 0, module: NEVER }, 'threads must be 1 to 64'],
    [{ threads: 65, module: NEVER }, 'threads must be 1 to 64'],
    [{ threads: 2, module: './here.js' }, 'module must be the URL of a module'],
  ])('refuses the options %j', async (options, message) => {
    await expect(evaluateInThreads(contextWith(), INPUT, options)).rejects.toThrow(message)
  })
})
