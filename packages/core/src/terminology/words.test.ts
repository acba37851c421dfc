import { describe, expect, it } from 'vitest'
import { filterWords, foldTerm, placeOfWord, wordsOf } from './words.js'

describe('folding', () => {
  it.each([
    ['Größe', 'große'],
    ['CAFÉ', 'cafe'],
    ['ﬁne ①', 'fine 1'],
    ['Ångström', 'angstrom'],
    ['plain', 'plain'],
    ['Ωμέγα', 'ωμεγα'],
    ['Ёлка', 'елка'],
    ['ｶｷ', 'カキ'],
    ['かぎ', 'かぎ'],
    ['कि', 'कि'],
    ['น้ำ', 'น้ํา'],
    ['한국', '한국'],
  ])('makes %s into %s', (text, expected) => {
    expect(foldTerm(text)).toBe(expected)
  })

  it('finds runs of letters and digits, and runs of other characters', () => {
    expect(wordsOf('type-2 (50%)')).toEqual(['type', '-', '2', '(', '50', '%)'])
    expect(wordsOf('कि ताब')).toEqual(['कि', 'ताब'])
  })
})

describe('the words of a filter', () => {
  it.each([
    ['  ', []],
    ['Data Exchange', ['data', 'exchange']],
    ['x-ray', ['x', 'ray']],
    ['data-exchange1', ['data', 'exchange1']],
    ['da%', ['da%']],
    ['%', ['%']],
    ['.*', ['.*']],
    ['d_ta', ['d', 'ta']],
    ['<5', ['<5']],
    ['\\', ['\\']],
  ])('of %j are %j', (filter, expected) => {
    expect(filterWords(filter).map(({ text }) => text)).toEqual(expected)
  })

  it.each([
    ['wild duck', 'duck', 5],
    ['wild duck', 'uck', -1],
    ['50%', '%', 2],
    ['a %', '%', 2],
    ['abc abd', 'abd', 4],
    ['', 'a', -1],
  ])('in %j, %j is at %i', (text, piece, place) => {
    expect(placeOfWord(text, piece)).toBe(place)
  })
})
