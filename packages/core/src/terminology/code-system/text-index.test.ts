import { describe, expect, it } from 'vitest'
import { createContext } from '../../context/index.js'
import { expand } from '../../expand/index.js'
import { memoryStorage } from '../../memory/index.js'

const system = 'http://example.org/CodeSystem/words'
const displays = ['かき', 'かぎ', 'ガラス', 'का', 'कि', 'นา', 'น้ำ', '한국', 'Fièvre', 'Ωμέγα', 'Ёлка', 'ﬁne ①']
const concept = displays.map((display, i) => ({ code: `c${i}`, display }))
const ctx = createContext({
  storage: memoryStorage([{ resourceType: 'CodeSystem', id: 'words', url: system, status: 'active', content: 'complete', concept }]),
})
const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system }] } }

describe('a text filter', () => {
  it.each([
    ['かき', 'かき'],
    ['かぎ', 'かぎ'],
    ['ｶﾞﾗｽ', 'ガラス'],
    ['का', 'का'],
    ['कि', 'कि'],
    ['นา', 'นา'],
    ['น้ำ', 'น้ำ'],
    ['한', '한국'],
    ['fievre', 'Fièvre'],
    ['FIÈVRE', 'Fièvre'],
    ['ωμεγα', 'Ωμέγα'],
    ['елка', 'Ёлка'],
    ['fine 1', 'ﬁne ①'],
  ])('%s finds %s alone: accents do not matter, marks that make another letter do', async (filter, expected) => {
    const { contains } = await expand(ctx, { valueSet, filter })
    expect(contains.map(({ display }) => display)).toEqual([expected])
  })
})
