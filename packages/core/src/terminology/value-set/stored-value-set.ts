import type { OperationContext } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import type { JsonObject } from '../../json/index.js'
import type { OperationRequest } from '../../operation/index.js'

/** The ValueSet whose id is in the path; `undefined` without id. @throws {OperationError} `not-found` for the id of none. */
export async function storedValueSet(ctx: OperationContext, { id }: OperationRequest): Promise<JsonObject | undefined> {
  if (id === undefined) return undefined
  ctx.authorize?.('read', 'ValueSet', id)
  const stored = await ctx.storage.read('ValueSet', id)
  if (stored === undefined) throw new OperationError('not-found', `There is no ValueSet with the id ${quoted(id)}.`)
  return stored.resource
}
