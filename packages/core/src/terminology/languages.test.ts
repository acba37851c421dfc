import { describe, expect, it } from 'vitest'
import { isWanted, languageFit, languageList } from './languages.js'

describe('a list of languages', () => {
  it.each([
    ['de', ['de'], false],
    ['de,*', ['de'], false],
    ['de, *', ['de'], false],
    ['de, *; q=0', ['de'], true],
    ['en, en-AU; q=0.4', ['en', 'en-au'], false],
    ['fr;q=0.5,de;q=0.9,it;q=0', ['de', 'fr'], false],
    ['*', [], false],
    ['en,,de,', ['en', 'de'], false],
  ])('%j asks for %j', (text, tags, only) => {
    expect(languageList(text)).toMatchObject({ text, tags, less: [], only })
  })

  it.each([
    ['de;q=0.1, *;q=0.9', [], ['de']],
    ['de;q=0.1, *;q=0.5, fr, it;q=0.3', ['fr'], ['it', 'de']],
    ['de;q=0, *', [], ['de']],
    ['de;q=0.5, *;q=0.5', ['de'], []],
  ])('%j prefers %j to others, and those to %j', (text, tags, less) => {
    expect(languageList(text)).toMatchObject({ tags, less })
  })

  it.each(['-', '', 'de;', 'de;q=2', 'a b', ',', 'x'.repeat(9)])('%j is none', (text) => {
    expect(languageList(text)).toBeUndefined()
  })

  it.each([
    ['de', 'de', 0],
    ['de', 'de-CH', 1],
    ['en-au', 'en', 2],
    ['de', 'den', undefined],
    ['en', 'de', undefined],
  ])('asked for %j, %j fits by %j', (asked, language, fit) => {
    expect(languageFit(asked, language)).toBe(fit)
    expect(isWanted({ text: asked, tags: [asked], less: [], only: false }, language)).toBe(fit !== undefined)
  })
})
