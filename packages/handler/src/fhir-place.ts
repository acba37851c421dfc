import { OperationError, quoted } from 'fhir-ops/errors'
import { isResourceType } from 'fhir-ops/storage'
import type { Target } from './http/target.js'
import { FHIR_PATH, type Service } from './service.js'

const FHIR_SEGMENTS = FHIR_PATH.split('/').slice(1)

/** True for a path at or below the FHIR base. */
export function isBelowFhir({ mount }: Pick<Service, 'mount'>, { segments }: Pick<Target, 'segments'>): boolean {
  return [...mount, ...FHIR_SEGMENTS].every((segment, index) => segments[index] === segment)
}

/** The error of a path that no route has. It names the type or the operation that there is not, or says where FHIR is. */
export function nothingAt({ mount }: Pick<Service, 'mount'>, target: Pick<Target, 'segments'>): OperationError {
  const base = [...mount, ...FHIR_SEGMENTS]
  if (!isBelowFhir({ mount }, target))
    return new OperationError('not-found', `There is nothing at this path: FHIR is below '/${base.join('/')}'.`)
  return new OperationError('not-found', missing(target.segments.slice(base.length)))
}

function missing([type = '', ...rest]: readonly string[]): string {
  const last = rest.at(-1) ?? type
  if (!type.startsWith('$') && !isResourceType(type)) return `There is no resource type ${quoted(type)}.`
  return last.startsWith('$') ? `There is no operation ${quoted(last)} at this path.` : 'There is nothing at this path.'
}
