import { OperationError } from '../../../errors/index.js'
import { PENDING, type Pending } from '../../../fhirpath/index.js'
import { objectAt, objectsAt, type JsonObject } from '../../../json/index.js'
import { buildSnapshot, type BuiltSnapshot, type SnapshotSource } from '../../../snapshot/index.js'
import type { Run } from '../../run/run.js'

/** The snapshot that a differential results in; `undefined` when it cannot be applied, or when a definition is pending. */
export async function builtSnapshot({ definitions, scheduler }: Run, definition: JsonObject): Promise<BuiltSnapshot | undefined> {
  let isPending = false
  const find: SnapshotSource['find'] = (canonical) => {
    const found = definitions.definition('StructureDefinition', canonical)
    isPending ||= found === PENDING
    return Promise.resolve(found === PENDING ? undefined : found)
  }
  try {
    const built = await buildSnapshot(definition, { pace: { step: scheduler.turn }, find })
    return isPending ? undefined : built
  } catch (error) {
    // Other rules report bases that are unknown, circular or of another type.
    if (error instanceof OperationError && UNFIT.has(error.code)) return undefined
    throw error
  }
}

const UNFIT: ReadonlySet<string> = new Set(['definition-invalid', 'definition-not-found', 'too-costly'])

/** The snapshot of a known definition: its own, or else the result of its differential; `undefined` when that cannot be applied. */
export async function snapshotOf(run: Run, canonical: string): Promise<readonly JsonObject[] | undefined | Pending> {
  const found = run.definitions.definition('StructureDefinition', canonical)
  if (found === undefined || found === PENDING) return found
  const own = objectsAt(objectAt(found, 'snapshot'), 'element')
  return own.length > 0 ? own : (await builtSnapshot(run, found))?.elements
}
