import type { Acceptability, ConceptReference, Dialect } from './ast.js'
import type { SubParser } from './parse-refinement.js'
import { EclError } from './ecl-error.js'
import { parseConcept, parseSet } from './parse-concept.js'
import { isDigit, isLetter, type EclReader } from './reader.js'

/** Reads language reference sets by the aliases of their dialects, each perhaps with acceptabilities. */
export function parseDialects(reader: EclReader): readonly Dialect[] {
  return dialects(reader, alias)
}

/** Reads language reference sets by their ids, each perhaps with acceptabilities, or by a constraint. */
export function parseDialectIds(reader: EclReader, sub: SubParser): readonly Dialect[] {
  if (holdsIds(reader)) return dialects(reader, parseConcept)
  return [{ refset: { constraint: sub(reader) }, acceptability: acceptability(reader) }]
}

/** Brackets with an id, or an id with acceptabilities, are a set; anything else in brackets is a constraint. */
function holdsIds(reader: EclReader): boolean {
  const { at } = reader
  const isBracket = reader.take('(')
  reader.blanks()
  const id = reader.run(isDigit)
  reader.blanks()
  if (reader.take('|')) reader.run((character) => character !== '|')
  reader.take('|')
  reader.blanks()
  const isSet = isBracket && id !== '' && (reader.sees('(') || reader.sees(')') || reader.run(isDigit) !== '')
  reader.back(at)
  return isSet
}

/** Acceptabilities behind a set hold for those in it that have none of their own. */
function dialects(reader: EclReader, refset: (reader: EclReader) => Dialect['refset']): readonly Dialect[] {
  const one = (): Dialect => ({ refset: refset(reader), acceptability: acceptability(reader) })
  if (!reader.sees('(')) return [one()]
  const found = parseSet(reader, one)
  const shared = acceptability(reader)
  return found.map((dialect) => (dialect.acceptability.length > 0 ? dialect : { ...dialect, acceptability: shared }))
}

function alias(reader: EclReader): Dialect['refset'] {
  const { at } = reader
  const text = reader.run((character) => character === '-' || isLetter(character) || isDigit(character))
  if (!/^[a-zA-Z]/.test(text)) reader.fail('A dialect')
  return { alias: text.toLowerCase(), at }
}

function acceptability(reader: EclReader): readonly Acceptability[] {
  const end = reader.at
  reader.blanks()
  if (reader.sees('(')) return parseSet(reader, oneAcceptability)
  reader.back(end)
  return []
}

const IDS: ReadonlyMap<string, Acceptability> = new Map([
  ['900000000000548007', 'preferred'],
  ['900000000000549004', 'acceptable'],
])

function oneAcceptability(reader: EclReader): Acceptability {
  if (reader.takeWord('preferred') || reader.takeWord('prefer')) return 'preferred'
  if (reader.takeWord('acceptable') || reader.takeWord('accept')) return 'acceptable'
  const concept: ConceptReference = parseConcept(reader)
  const known = IDS.get(concept.id)
  if (known === undefined) throw new EclError(`${concept.id} is not an acceptability`, concept.at)
  return known
}
