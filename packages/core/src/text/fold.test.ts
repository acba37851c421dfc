import { describe, expect, it } from 'vitest'
import { fold } from './fold.js'

describe('texts are compared', () => {
  it.each([
    ['Müller', 'muller'],
    ['A\u0308nne', 'anne'],
    ['  Van \t der\u00a0Berg ', 'van der berg'],
    ['İzmir', 'izmir'],
    ['ΝΊΚΟΣ', 'νικοσ'],
    ['νίκος', 'νικοσ'],
    ['Straße', 'strasse'],
    ['STRASSE', 'strasse'],
    ['GROẞ', 'gross'],
    ['ﬁn', 'fin'],
    ['Ёлкин', 'елкин'],
    ['שָׁלוֹם', 'שלום'],
    ['مُحَمَّد', 'محمد'],
  ])('%s as %s', (text, expected) => expect(fold(text)).toBe(expected))

  it.each([
    ['김', '기'],
    ['がく', 'かく'],
    ['राम', 'रमा'],
    ['กิน', 'กน'],
  ])('%s as another word than %s', (text, other) => {
    expect(fold(text).startsWith(fold(other))).toBe(false)
    expect(fold(text.normalize('NFD'))).toBe(fold(text))
  })
})
