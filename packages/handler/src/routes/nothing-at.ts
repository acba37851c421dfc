import { COMPARTMENT_TYPES } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { resourceTypes } from 'fhir-ops/internal/storage'
import { didYouMean, nearest } from 'fhir-ops/internal/text'
import type { Operation } from 'fhir-ops/operation'
import { isResourceType } from 'fhir-ops/storage'
import type { Target } from '../http/target.js'
import { FHIR_PATH, type Service } from '../service.js'

const FHIR_SEGMENTS = FHIR_PATH.split('/').slice(1)

/** True for the FHIR base and paths below it. */
export function isBelowFhir({ mount }: Pick<Service, 'mount'>, { segments }: Target): boolean {
  const depth = mount.length
  return mount.every((segment, at) => segments[at] === segment) && FHIR_SEGMENTS.every((segment, at) => segments[depth + at] === segment)
}

/** The error for a path without routes. It names the unknown type or operation, or says where the FHIR base is. */
export function nothingAt(service: Service, target: Target): OperationError {
  const base = [...service.mount, ...FHIR_SEGMENTS]
  const problem = isBelowFhir(service, target)
    ? missing(service, target.segments.slice(base.length))
    : `There is nothing at this path: FHIR is below '/${base.join('/')}'.`
  return new OperationError('not-found', problem)
}

function missing({ operations }: Service, segments: readonly string[]): string {
  const [type = '', ...rest] = segments
  const last = rest.at(-1) ?? type
  if (segments.includes('')) return 'There is nothing at this path: it has an empty part (//).'
  if (!type.startsWith('$') && !isResourceType(type)) {
    return hinted(`There is no resource type ${quoted(type)}.`, didYouMean(nearest(type, resourceTypes())))
  }
  if (!last.startsWith('$')) return isCompartmentPath(segments) ? noCompartment(type) : 'There is nothing at this path.'
  const elsewhere = operations.find(({ name }) => name === last)
  if (elsewhere !== undefined) return `There is no operation ${quoted(last)} at this path, but at ${quoted(pathOf(elsewhere))}.`
  if (NOT_OFFERED.has(last)) return `There is no operation ${quoted(last)} at this path: it is not offered by this server.`
  const names = operations.map(({ name }) => name)
  return hinted(`There is no operation ${quoted(last)} at this path.`, didYouMean(nearest(last, names)))
}

/** Operations of R4, well-known guides and other servers, which are not offered here but are not misspelt either. */
const NOT_OFFERED: ReadonlySet<string> = new Set(
  `add apply care-gaps cda conforms convert current-canonical diff docref document everything expand-profile expunge export extract find find-matches get-ws-binding-token
  graph graphql implements import lastn match meta meta-add meta-delete populate populatehtml populatelink preferred-id process-message purge questionnaire reindex remove
  stats status subset summary transform versions`
    .split(/\s+/)
    .map((name) => `$${name}`),
)

/** True for paths such as `Location/x/Observation`, which look like a search of a compartment. */
function isCompartmentPath([, , member = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && isResourceType(member)
}

function noCompartment(type: string): string {
  return `There is nothing at this path: ${type} has no compartment, as ${COMPARTMENT_TYPES.join(', ')} have.`
}

/** Path of an operation below the FHIR base. */
function pathOf({ name, types, levels }: Operation): string {
  const type = types === 'any' ? '[type]' : (types[0] ?? '[type]')
  if (levels.includes('type')) return `${type}/${name}`
  return levels.includes('system') ? name : `${type}/[id]/${name}`
}

function hinted(text: string, hint: string | undefined): string {
  return hint === undefined ? text : `${text} ${hint}`
}
