import { afterAll, describe, expect, it } from 'vitest'
import type { openWorkerTranslator as Open } from '../src/node/index.js'

// The build, since a thread needs a file; typed as the sources are.
const { openWorkerTranslator }: { readonly openWorkerTranslator: typeof Open } = await import(
  new URL('../dist/node/index.js', import.meta.url).href
)

const translator = openWorkerTranslator({ timeoutMs: 2500 })
afterAll(() => translator.close())

const library = (expression: string): string => `library T version '1'\ndefine X: ${expression}`

describe('the translator in a thread', () => {
  it('a text that takes too long fails alone: what waits for it is translated', async () => {
    await translator.translate(library('1'))
    const deep = `${'{'.repeat(490)}1${'}'.repeat(490)}`
    const slow = translator.translate(library(Array.from({ length: 100 }, (_, index) => `${deep}\ndefine Y${index}: `).join('') + '1'))
    const [refused, translated] = await Promise.allSettled([slow, translator.translate(library('2'))])
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'too-costly' } })
    expect(translated).toMatchObject({ status: 'fulfilled', value: { problems: [] } })
  })
})
