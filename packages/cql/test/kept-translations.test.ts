import { describe, expect, it, vi } from 'vitest'
import { keepTranslations } from '../src/translator/kept-translations.js'
import { createTranslator } from '../src/translator/index.js'

interface Counting {
  count: number
  translate(text: string, includes?: ReadonlyMap<string, string>): Promise<{ text: string; includes: unknown }>
}

/** Counts what it translates. */
function counting(fails = false): Counting {
  const translator: Counting = {
    count: 0,
    translate: async (text, includes = new Map()) => {
      translator.count++
      if (fails) throw new Error('busy')
      return { text, includes: [...includes] }
    },
  }
  return translator
}

const including = (helpers: string): ReadonlyMap<string, string> => new Map([['Helpers', helpers]])

describe('a translator that keeps translations', () => {
  it('translates a text once, for all who ask at the same time or later', async () => {
    const inner = counting()
    const translate = keepTranslations(inner.translate)
    const [first, second] = await Promise.all([translate('a', including('1')), translate('a', including('1'))])
    expect([second, await translate('a', including('1'))]).toEqual([first, first])
    expect(inner.count).toBe(1)
  })

  it('translates it again when a library that it includes has another text, comes in or is gone', async () => {
    const translate = keepTranslations(counting().translate)
    for (const includes of [including('1'), including('2'), new Map([...including('2'), ['More', '3']]), new Map<string, string>()])
      expect(await translate('a', includes)).toEqual({ text: 'a', includes: [...includes] })
  })

  it('translates it again when a model that it uses has another text', async () => {
    const inner = counting()
    const translate = keepTranslations(inner.translate)
    for (const model of ['1', '1', '2']) await translate('a', including('1'), new Map([['Clinic', model]]))
    expect(inner.count).toBe(2)
  })

  it('does not keep a failure', async () => {
    const inner = counting(true)
    const translate = keepTranslations(inner.translate)
    await expect(translate('a')).rejects.toThrow('busy')
    await expect(translate('a')).rejects.toThrow('busy')
    expect(inner.count).toBe(2)
  })

  it('forgets what was not asked for longest when there are too many, and does not keep what is too long', async () => {
    const inner = counting()
    const translate = keepTranslations(inner.translate, 4)
    for (const text of ['a', 'b', 'a', 'c', 'a']) await translate(text)
    expect(inner.count).toBe(3)
    for (const text of ['b', 'longer', 'longer']) await translate(text)
    expect(inner.count).toBe(6)
  })
})

describe('createTranslator', () => {
  it('prints nothing', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const log = vi.spyOn(console, 'log').mockReturnValue()
    const { translate } = await createTranslator()
    // The first text that includes another one makes the reference translator start its log.
    await translate('library Sums include Terms define Sum: Terms.One', new Map([['Terms', 'library Terms define One: 1']]))
    const printed = [...write.mock.calls, ...log.mock.calls].map(([text]) => String(text))
    vi.restoreAllMocks()
    expect(printed).toEqual([])
  })
})
