import { formatCanonical } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { OperationError } from '../../errors/index.js'
import { isObject } from '../../json/index.js'
import { valueSetStep } from '../explain/value-set-step.js'
import { refusal } from '../refusal.js'
import { definedValueSet } from './defined-value-set.js'
import { findValueSet } from './find-value-set.js'
import { readValueSet, type ValueSetDefinition } from './value-set.js'

/** How a request names a value set. */
export interface ValueSetName {
  /** The value set itself; goes before the url. */
  readonly valueSet?: object | undefined
  /** Canonical, with or without version. */
  readonly url?: string | undefined
  /** Used when the url has none. */
  readonly valueSetVersion?: string | undefined
}

/**
 * The value set that a request names.
 *
 * @throws {OperationError} `not-found` when there is none; `parameter-required` when none is named.
 */
export async function namedValueSet(ctx: OperationContext, name: ValueSetName): Promise<ValueSetDefinition> {
  const found = await foundValueSet(ctx, name)
  ctx.explain?.step(valueSetStep(found, name))
  return found
}

async function foundValueSet(ctx: OperationContext, { valueSet, url, valueSetVersion }: ValueSetName): Promise<ValueSetDefinition> {
  if (isObject(valueSet)) return readValueSet(valueSet)
  if (url === undefined) throw new OperationError('parameter-required', 'A value set must be named by url, or be given as valueSet.')
  const found = await findValueSet(ctx, url, valueSetVersion)
  if (found !== undefined) return definedValueSet(ctx.cache, found)
  throw refusal('Unable_to_resolve_value_Set_', { valueSet: formatCanonical(url, valueSetVersion) }, { code: 'not-found' })
}
