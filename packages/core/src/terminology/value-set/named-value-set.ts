import { formatCanonical } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { OperationError } from '../../errors/index.js'
import { isObject } from '../../json/index.js'
import { valueSetStep } from '../explain/value-set-step.js'
import { refusal } from '../refusal.js'
import { definedValueSet } from './defined-value-set.js'
import { findValueSet } from './find-value-set.js'
import { readValueSet, type ValueSetDefinition } from './value-set.js'

/** A value set by its canonical. */
export interface ValueSetByUrl {
  /** Canonical, with or without version. */
  readonly url: string
  /** Used when the url has none. */
  readonly valueSetVersion?: string | undefined
  readonly valueSet?: undefined
}

/** A value set that is given itself. */
export interface GivenValueSet {
  /** A ValueSet resource. */
  readonly valueSet: object
  readonly url?: undefined
  readonly valueSetVersion?: string | undefined
}

/** How a request names a value set: by `url`, or by the `valueSet` itself. */
export type ValueSetName = ValueSetByUrl | GivenValueSet

/** The same as plain JavaScript may pass it: both, or none. */
export interface LooseValueSetName {
  readonly valueSet?: object | undefined
  readonly url?: string | undefined
  readonly valueSetVersion?: string | undefined
}

/** The error for two names of one value set; `expression` are the members or parameters. */
export function bothNames(expression: readonly string[]): OperationError {
  return new OperationError('parameter-invalid', 'The value set is named twice: only one of url and valueSet may be given.', { expression })
}

/**
 * The value set that a request names.
 *
 * @throws {OperationError} `not-found` when there is none; `parameter-required` when none is named; `parameter-invalid` for a url beside a value set.
 */
export async function namedValueSet(ctx: OperationContext, name: LooseValueSetName): Promise<ValueSetDefinition> {
  const found = await foundValueSet(ctx, name)
  ctx.explain?.step(valueSetStep(found, name))
  return found
}

async function foundValueSet(ctx: OperationContext, { valueSet, url, valueSetVersion }: LooseValueSetName): Promise<ValueSetDefinition> {
  if (valueSet !== undefined && url !== undefined) throw bothNames(['url', 'valueSet'])
  if (isObject(valueSet)) return readValueSet(valueSet)
  if (url === undefined) throw new OperationError('parameter-required', 'A value set must be named by url, or be given as valueSet.')
  const found = await findValueSet(ctx, url, valueSetVersion)
  if (found !== undefined) return definedValueSet(ctx.cache, found)
  throw refusal('Unable_to_resolve_value_Set_', { valueSet: formatCanonical(url, valueSetVersion) }, { code: 'not-found' })
}
