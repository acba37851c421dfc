import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { StoredResource } from '../storage/index.js'
import type { OperationRequest } from './operation.js'

/**
 * The stored resource that an operation is called on; `undefined` at type level.
 *
 * @throws {OperationError} `not-found` where nothing has the id; `forbidden` where the caller may not read it.
 */
export async function storedInstance(
  ctx: OperationContext,
  { type, id }: Pick<OperationRequest, 'type' | 'id'>,
): Promise<StoredResource | undefined> {
  if (id === undefined) return undefined
  ctx.authorize?.('read', type, id)
  const stored = await ctx.storage.read(type, id)
  if (stored === undefined) throw new OperationError('not-found', `There is no ${type} with the id ${quoted(id)}.`)
  return stored
}
