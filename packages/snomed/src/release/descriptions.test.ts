import { expect, it } from 'vitest'
import { descriptionTable } from './descriptions.js'
import { bytesOf, sectionReader } from './section-reader.js'

const TERMS = ['Heart', 'Œdème', 'A term that goes over several pieces', 'x']

it.each([4, 7, 16, 262_144])('a term is read from the pieces of %i bytes that it goes over', (size) => {
  const encoded = TERMS.map((term) => new TextEncoder().encode(term))
  const ends = encoded.map((_, i) => encoded.slice(0, i + 1).reduce((length, { byteLength }) => length + byteLength, 0))
  const all = Uint8Array.from(encoded.flatMap((bytes) => [...bytes]))
  const section = (name: string): Uint8Array => {
    const number = Number(/^terms\.([0-9]+)$/.exec(name)?.[1])
    return name === 'description.term' ? bytesOf(Uint32Array.of(0, ...ends)) : all.slice(number * size, (number + 1) * size)
  }
  const told = size === 262_144 ? {} : { termChunk: size }
  const table = descriptionTable(sectionReader({ section }), { languages: [], dialects: [], modules: [], ...told })
  expect(TERMS.map((_, row) => table.term(row))).toEqual(TERMS)
})
