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
  /** Why each population of a measure, or definition of CQL, has its result for one subject. */
  readonly criteria: readonly ExplainedCriterion[]
  /** The definitions of CQL, with what their clauses were. */
  readonly source: readonly SourceDefinition[]
}

/** Why a criterion has its result. */
export interface ExplainedCriterion {
  readonly result: string
  readonly reason: string
  readonly nearest: readonly string[]
  readonly steps: readonly string[]
}

/** A definition in parts. */
export interface SourceDefinition {
  readonly library: string
  readonly name: string
  /** Marked `t` (true), `f` (false or empty), `n` (null), `u` (not evaluated), or not at all. */
  readonly parts: readonly { readonly text: string; readonly mark: string | undefined }[]
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
  const libraries = partsAt(partAt(parameter, 'source'), 'library')
  return {
    steps,
    nearest: nearest.filter(isObject),
    criteria: partsAt(parameter, 'criterion').map(criterionOf),
    source: libraries.flatMap((library) => partsAt(library, 'definition').map((one) => definitionOf(one, textAt(library, 'name') ?? ''))),
  }
}

function criterionOf(part: JsonObject): ExplainedCriterion {
  const texts = (name: string): readonly string[] => partsAt(part, name).flatMap((inner) => textAt(inner, 'text') ?? [])
  return { result: textAt(part, 'result') ?? '', reason: textAt(part, 'reason') ?? '', nearest: texts('nearest'), steps: texts('step') }
}

function definitionOf(part: JsonObject, library: string): SourceDefinition {
  const counts = new Map(partsAt(part, 'clause').map((clause) => [textAt(clause, 'id') ?? '', textAt(clause, 'counts') ?? '']))
  const parts = partsAt(part, 'part').map((inner) => {
    const clause = textAt(inner, 'clause')
    return { text: textAt(inner, 'text') ?? '', mark: clause === undefined ? undefined : markOf(counts.get(clause) ?? '') }
  })
  return { library, name: textAt(part, 'name') ?? '', parts }
}

/** Of `true 1, false 0, null 0, notEvaluated 0`. */
function markOf(counts: string): string {
  const first = /(true|false|null|notEvaluated) [1-9]/.exec(counts)?.[1]
  return first === undefined || first === 'notEvaluated' ? 'u' : first.charAt(0)
}
