import { resolveCanonical } from '../content/index.js'
import { createPace, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput, inputShape, OBJECT, TEXT } from '../input/index.js'
import { isObject, objectAt, objectsAt, type JsonObject } from '../json/index.js'
import { buildSnapshot } from './build-snapshot.js'
import type { SnapshotProblem } from './building.js'

/** The input of `generateSnapshot`: a StructureDefinition, or where it is found. */
export type SnapshotInput =
  | { readonly definition: object; readonly url?: undefined }
  /** Canonical, with or without version. */
  | { readonly url: string; readonly definition?: undefined }

/** The result of `generateSnapshot`. */
export interface SnapshotResult {
  /** The StructureDefinition, with the snapshot instead of the one that it had. */
  readonly definition: JsonObject
  /** What of the differential could not be applied, or only in part, in its order. The snapshot is as if that were not there. */
  readonly problems: readonly SnapshotProblem[]
}

const INPUT = inputShape<SnapshotInput>({ definition: OBJECT, url: TEXT })

/**
 * Makes the snapshot of a profile or type: what its base has, with the differential applied. The snapshot of a base or of a type's profile that has none
 * is made too. Whether a profile may say what it says is another matter, for `validate`.
 *
 * @returns The definition with its snapshot, as it is where it has a snapshot and no differential.
 * @throws {OperationError} `parameter-required` without a definition or url, `source-ambiguous` with both; `not-found` for a url that nothing has;
 *   `definition-not-found` when a base is not known; `definition-invalid` for what is not a StructureDefinition, has no differential, is of another type
 *   than its base, or builds on itself; `too-costly` for more than 100,000 elements or a path of more than 100 steps; `aborted`, `computation-timeout`.
 * @see https://hl7.org/fhir/R4/profiling.html#snapshot
 */
export async function generateSnapshot(ctx: OperationContext, input: SnapshotInput): Promise<SnapshotResult> {
  checkInput(ctx, input, INPUT)
  const definition = await definitionIn(ctx, input)
  if (definition['resourceType'] !== 'StructureDefinition')
    throw new OperationError('definition-invalid', 'Only a StructureDefinition has a snapshot.', { expression: ['resourceType'] })
  if (objectsAt(objectAt(definition, 'differential'), 'element').length === 0 && objectAt(definition, 'snapshot') !== undefined)
    return { definition, problems: [] }
  const find = async (canonical: string): Promise<JsonObject | undefined> =>
    (await resolveCanonical(ctx.content, 'StructureDefinition', canonical))?.resource
  const { elements, problems } = await buildSnapshot(definition, { pace: createPace(ctx), find })
  return { definition: { ...definition, snapshot: { element: elements } }, problems }
}

async function definitionIn(ctx: OperationContext, { definition, url }: SnapshotInput): Promise<JsonObject> {
  if (definition !== undefined && url !== undefined)
    throw new OperationError('source-ambiguous', 'The definition is given, and a url too; give one of them.', { expression: ['url'] })
  if (isObject(definition)) return definition
  if (url === undefined)
    throw new OperationError('parameter-required', 'A StructureDefinition is needed, or the url of one.', { expression: ['definition'] })
  const found = await resolveCanonical(ctx.content, 'StructureDefinition', url)
  if (found === undefined) {
    const missing = { kind: 'StructureDefinition', name: url }
    throw new OperationError('not-found', `There is no StructureDefinition ${quoted(url)}.`, { expression: ['url'], missing })
  }
  return found.resource
}
