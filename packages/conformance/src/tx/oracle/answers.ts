import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Operation } from './questions.js'

/** The content of an answer, by aspect. Each aspect of two answers is compared as text. */
export type Answer = Readonly<Partial<Record<Aspect, string>>>

/** The compared aspects: whether the question was refused, and the content of the answer without its messages. */
const ASPECTS = ['refused', 'result', 'codes', 'order', 'versions', 'nested', 'flags', 'displays', 'outcome', 'matches'] as const

type Aspect = (typeof ASPECTS)[number]

const REFUSED: Answer = { refused: 'true' }

/** Reads an answer of the oracle. */
export function theirAnswer(answer: JsonObject): Answer {
  if (answer['failure'] !== undefined || answer['error'] !== undefined) return REFUSED
  const { expansion, translation, result } = answer
  if (isObject(expansion)) return expansionAnswer(expansion)
  if (isObject(translation)) return matchesAnswer(translation, 'relationship', (stated) => stated)
  return typeof result === 'boolean' ? { result: String(result) } : { outcome: outcomeOf(answer) }
}

/** Reads an answer of this library over HTTP. */
export function ourAnswer(operation: Operation, answer: JsonObject): Answer {
  if (answer['resourceType'] === 'OperationOutcome') return REFUSED
  const { expansion } = answer
  if (isObject(expansion)) return expansionAnswer(expansion)
  const parameter = (name: string): JsonObject | undefined => objectsAt(answer, 'parameter').find((one) => one['name'] === name)
  const outcome = parameter('outcome')
  if (outcome !== undefined) return { outcome: String(outcome['valueCode']) }
  if (operation === 'translate') return matchesAnswer(answer, 'equivalence', (stated) => RELATIONSHIPS[stated] ?? stated)
  return { result: String(parameter('result')?.['valueBoolean']) }
}

/** R5's names of R4's equivalences. */
const RELATIONSHIPS: Readonly<Record<string, string>> = {
  relatedto: 'related-to',
  equivalent: 'equivalent',
  equal: 'equivalent',
  wider: 'source-is-narrower-than-target',
  subsumes: 'source-is-narrower-than-target',
  narrower: 'source-is-broader-than-target',
  specializes: 'source-is-broader-than-target',
  inexact: 'related-to',
  disjoint: 'not-related-to',
}

function outcomeOf({ aSubsumesB, bSubsumesA }: JsonObject): string {
  if (aSubsumesB === true) return bSubsumesA === true ? 'equivalent' : 'subsumes'
  return bSubsumesA === true ? 'subsumed-by' : 'not-subsumed'
}

function matchesAnswer(parameters: JsonObject, part: string, relationship: (stated: string) => string): Answer {
  const matches = objectsAt(parameters, 'parameter').filter(({ name }) => name === 'match')
  const texts = matches.map((match) => {
    const value = (wanted: string): JsonObject | undefined => objectsAt(match, 'part').find(({ name }) => name === wanted)
    const concept = value('concept')?.['valueCoding']
    const coding = isObject(concept) ? `${stringAt(concept, 'system') ?? ''}#${stringAt(concept, 'code') ?? ''}` : ''
    return `${relationship(String(value(part)?.['valueCode']))} ${coding}`
  })
  return { matches: texts.sort().join(', ') }
}

interface Listed {
  readonly entry: JsonObject
  readonly code: string
  readonly above: string
}

function expansionAnswer(expansion: JsonObject): Answer {
  const listed = entriesOf(expansion, '')
  const codes = listed.map(({ entry, code }) => `${stringAt(entry, 'system') ?? ''}#${code}`)
  const versions = listed.map(({ entry }) => `${stringAt(entry, 'system') ?? ''}|${stringAt(entry, 'version') ?? ''}`)
  const flags = listed.flatMap(({ entry, code }) =>
    ['abstract', 'inactive'].flatMap((flag) => (entry[flag] === true ? `${code} ${flag}` : [])),
  )
  return {
    codes: codes.toSorted().join(', '),
    order: codes.join(', '),
    versions: [...new Set(versions)].sort().join(', '),
    nested: listed
      .flatMap(({ above, code }) => (above === '' ? [] : `${code} in ${above}`))
      .sort()
      .join(', '),
    flags: flags.sort().join(', '),
    displays: listed
      .map(({ entry, code }) => `${code} ${stringAt(entry, 'display') ?? ''}`)
      .sort()
      .join(', '),
  }
}

function entriesOf(parent: JsonObject, above: string): readonly Listed[] {
  return objectsAt(parent, 'contains').flatMap((entry) => {
    const code = stringAt(entry, 'code') ?? ''
    return [{ entry, code, above }, ...entriesOf(entry, code)]
  })
}

/**
 * The first aspect in which two answers differ; later differences follow from it.
 *
 * @returns `undefined` if they agree.
 */
export function differenceOf(ours: Answer, theirs: Answer): string | undefined {
  const aspect = ASPECTS.find((name) => ours[name] !== theirs[name])
  return aspect === undefined ? undefined : `${aspect}: ${ours[aspect] ?? 'none'} / ${theirs[aspect] ?? 'none'}`
}
