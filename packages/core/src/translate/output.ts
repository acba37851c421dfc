import { explanationParameter } from '../explain/index.js'
import type { JsonObject } from '../json/index.js'
import type { TranslateCall } from './input.js'
import type { TranslateMatch, TranslateResult } from './translation.js'

type Part = JsonObject

/** Writes a translation as the Parameters of the R4 operation, or with the part names of R5 when the call used R5's names. */
export function writeTranslation(result: TranslateResult, { input, names }: TranslateCall): JsonObject {
  const matchParts = names === 'R4' ? partsR4 : input.reverse === true ? reverseParts : partsR5
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

function partsR4(match: TranslateMatch): readonly Part[] {
  return [...mainParts(match, match.concept), ...present(match.map, (valueUri) => ({ name: 'source', valueUri }))]
}

function partsR5(match: TranslateMatch): readonly Part[] {
  return [...mainParts(match, match.concept), ...originMap(match)]
}

/** In R5's names `concept` stays the target of the mapping, and `source` is what was found. */
function reverseParts(match: TranslateMatch): readonly Part[] {
  return [
    ...mainParts(match, match.from),
    ...present(match.concept, (valueCoding) => ({ name: 'source', valueCoding })),
    ...originMap(match),
  ]
}

function mainParts(match: TranslateMatch, concept: TranslateMatch['concept']): readonly Part[] {
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

function originMap(match: TranslateMatch): readonly Part[] {
  return present(match.map, (valueCanonical) => ({ name: 'originMap', valueCanonical }))
}

function present<T>(value: T | undefined, write: (value: T) => Part): readonly Part[] {
  return value === undefined ? [] : [write(value)]
}
