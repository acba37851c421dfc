import { writeInPieces, type JsonObject } from '../json/index.js'
import { paced } from '../work/index.js'
import type { OperationContext } from './context.js'
import { createPace } from './pace.js'

/**
 * The JSON text of an answer; a long one is written while other work runs in between.
 *
 * @throws {OperationError} `aborted`, `computation-timeout`.
 */
export function pacedText(ctx: OperationContext, resource: JsonObject): Promise<string> {
  return paced(writeInPieces(resource), createPace(ctx))
}
