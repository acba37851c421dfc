import { checkResult } from '../errors/index.js'
import type { Coding, Parameters, ParametersParameter } from 'fhir/r4.js'
import type { Explained } from '../context/index.js'
import { explanationParameter } from '../explain/index.js'

/** An additional code of a mapping, for another element. */
export interface TranslateProduct {
  readonly element: string
  readonly concept: Coding
}

/** A mapping that was found. */
export interface TranslateMatch {
  /** Equivalence as the map states it, from source to target; absent for a match by a group's `unmapped`. */
  readonly equivalence?: string
  /** The translation; absent when the map states that there is none (`unmatched`). */
  readonly concept?: Coding
  /** The coding that was translated. */
  readonly from: Coding
  readonly products: readonly TranslateProduct[]
  /** `url|version` of the map; absent when the map has no url. */
  readonly map?: string
}

/** Result of a translation. */
export interface TranslateResult extends Explained {
  /** True if a match is neither `unmatched` nor `disjoint`. */
  readonly result: boolean
  /** Which codes were not found in which maps; present when `result` is false. */
  readonly message?: string
  /** The matches, ordered by canonical of the map, then by group, coding and target. */
  readonly matches: readonly TranslateMatch[]
}

/** Options of `toParameters`. */
export interface TranslationForm {
  /** Names of the parts of a match. Default `R4`. */
  readonly names?: 'R4' | 'R5'
  /** True for a translation in reverse, which is written differently with the names of R5. Default false. */
  readonly reverse?: boolean | undefined
}

/** Creates the Parameters that `$translate` returns. */
export function toParameters(result: TranslateResult, { names = 'R4', reverse = false }: TranslationForm = {}): Parameters {
  checkResult('translate', result, 'matches')
  const matchParts = names === 'R4' ? partsR4 : reverse ? reverseParts : partsR5
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'result', valueBoolean: result.result },
      ...(result.message === undefined ? [] : [{ name: 'message', valueString: result.message }]),
      ...result.matches.map((match) => ({ name: 'match', part: matchParts(match) })),
      ...explanationParameter(result.explanation),
    ],
  }
}

function partsR4(match: TranslateMatch): ParametersParameter[] {
  return [...mainParts(match, match.concept), ...present(match.map, (valueUri) => ({ name: 'source', valueUri }))]
}

function partsR5(match: TranslateMatch): ParametersParameter[] {
  return [...mainParts(match, match.concept), ...originMap(match)]
}

/** In R5, `concept` stays the target of the mapping, and `source` is the code found. */
function reverseParts(match: TranslateMatch): ParametersParameter[] {
  return [
    ...mainParts(match, match.from),
    ...present(match.concept, (valueCoding) => ({ name: 'source', valueCoding })),
    ...originMap(match),
  ]
}

function mainParts(match: TranslateMatch, concept: TranslateMatch['concept']): ParametersParameter[] {
  return [
    ...present(match.equivalence, (valueCode) => ({ name: 'equivalence', valueCode })),
    ...present(concept, (valueCoding) => ({ name: 'concept', valueCoding })),
    ...match.products.map(({ element, concept: product }) => ({
      name: 'product',
      part: [
        { name: 'element', valueUri: element },
        { name: 'concept', valueCoding: product },
      ],
    })),
  ]
}

function originMap(match: TranslateMatch): ParametersParameter[] {
  return present(match.map, (valueCanonical) => ({ name: 'originMap', valueCanonical }))
}

function present<T>(value: T | undefined, write: (value: T) => ParametersParameter): ParametersParameter[] {
  return value === undefined ? [] : [write(value)]
}
