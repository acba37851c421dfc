import { isObject, objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import { partAt, partsAt, textAt, valueOf } from './parameters.js'

/** A decision that an engine reports. */
export interface Step {
  readonly kind: string
  readonly outcome: string
  readonly text: string
  readonly path: string | undefined
}

/** How an answer was reached. */
export interface Explanation {
  readonly steps: readonly Step[]
  /** Existing codes that are similar to one that does not exist. */
  readonly nearest: readonly JsonObject[]
}

const EXPLANATION = 'https://fhir-ops.dev/StructureDefinition/explanation'

/** The explanation in an answer of any operation: Parameters, a ValueSet, a ConceptMap or an OperationOutcome. */
export function explanationIn(resource: unknown): Explanation | undefined {
  if (!isObject(resource)) return undefined
  if (resource['resourceType'] === 'Parameters') {
    const parameter = partAt(resource, 'explanation')
    return parameter === undefined ? undefined : fromParts(parameter)
  }
  const holder = resource['resourceType'] === 'ValueSet' ? objectAt(resource, 'expansion') : resource
  const extension = objectsAt(holder, 'extension').find(({ url }) => url === EXPLANATION)
  return extension === undefined ? undefined : fromParts(asPart(extension))
}

/** Extensions have the names and the nesting of the parts. */
function asPart(extension: JsonObject): JsonObject {
  const { url, extension: _, ...value } = extension
  return { name: url, ...value, part: objectsAt(extension, 'extension').map(asPart) }
}

function fromParts(parameter: JsonObject): Explanation {
  const steps = partsAt(parameter, 'step').map((step) => ({
    kind: textAt(step, 'kind') ?? '',
    outcome: textAt(step, 'outcome') ?? '',
    text: textAt(step, 'text') ?? '',
    path: textAt(step, 'path'),
  }))
  const nearest = partsAt(parameter, 'nearest').map((near) => valueOf(partAt(near, 'coding')))
  return { steps, nearest: nearest.filter(isObject) }
}
