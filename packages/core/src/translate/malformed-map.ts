import { objectsAt, type JsonObject } from '../json/index.js'
import { isElementList, isText, NO_IMPLICIT_RULES, wrongMember, type ElementShape } from '../terminology/index.js'
import type { Work } from '../work/index.js'

const MAP: ElementShape = [['group', isElementList], NO_IMPLICIT_RULES]

const GROUP: ElementShape = [
  ['source', isText],
  ['sourceVersion', isText],
  ['target', isText],
  ['targetVersion', isText],
  ['element', isElementList],
]

const ELEMENT: ElementShape = [
  ['code', isText],
  ['target', isElementList],
]

/** @see https://hl7.org/fhir/R4/valueset-concept-map-equivalence.html */
const EQUIVALENCES: ReadonlySet<unknown> = new Set([
  'relatedto',
  'equivalent',
  'equal',
  'wider',
  'subsumes',
  'narrower',
  'specializes',
  'inexact',
  'unmatched',
  'disjoint',
])

const TARGET: ElementShape = [
  ['code', isText],
  ['equivalence', (value) => EQUIVALENCES.has(value)],
]

/** Equivalences that mean that a code has no translation. */
export const NO_TRANSLATION: ReadonlySet<unknown> = new Set(['unmatched', 'disjoint'])

const STEPS = 256

/**
 * Returns the FHIRPath of the first element of a map that does not have the shape and meaning of R4, because codes would silently have no translation there,
 * or a wrong one. A target without code is malformed, unless its equivalence means that there is no translation.
 */
export function* malformedPlace(map: JsonObject): Work<string | undefined> {
  const broken = wrongMember(map, MAP)
  if (broken !== undefined) return `ConceptMap.${broken}`
  let step = 0
  for (const [i, group] of objectsAt(map, 'group').entries()) {
    const wrong = wrongMember(group, GROUP)
    if (wrong !== undefined) return `ConceptMap.group[${i}].${wrong}`
    for (const [j, element] of objectsAt(group, 'element').entries()) {
      if (step++ % STEPS === 0) yield
      const place = malformedElement(element)
      if (place !== undefined) return `ConceptMap.group[${i}].element[${j}].${place}`
    }
  }
  return undefined
}

function malformedElement(element: JsonObject): string | undefined {
  const wrong = wrongMember(element, ELEMENT)
  if (wrong !== undefined) return wrong
  for (const [k, target] of objectsAt(element, 'target').entries()) {
    const missing = target['code'] === undefined && !NO_TRANSLATION.has(target['equivalence']) ? 'code' : undefined
    const place = wrongMember(target, TARGET) ?? missing
    if (place !== undefined) return `target[${k}].${place}`
  }
  return undefined
}
