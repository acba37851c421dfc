import { canonicalOf } from '../content/index.js'
import { OperationError, quoted, type ErrorCode } from '../errors/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import { type ParameterReader, parameterReader } from '../parameters/index.js'
import { versionsByUrl, type VersionRules } from './versions.js'
import { forRequest, type Limits, type OperationContext } from '../context/index.js'

/**
 * Reads the version rules among the inputs.
 *
 * @throws {OperationError} `parameter-value` for a canonical without version, `parameter-invalid` for two versions of one canonical.
 */
export function readVersionRules(reader: ParameterReader): VersionRules {
  return {
    force: readVersions(reader, 'force-system-version'),
    check: readVersions(reader, 'check-system-version'),
    fallback: readVersions(reader, 'system-version'),
    valueSets: readVersions(reader, 'default-valueset-version'),
    forcedValueSets: readVersions(reader, 'force-valueset-version'),
    checkedValueSets: readVersions(reader, 'check-valueset-version'),
  }
}

function readVersions(reader: ParameterReader, name: string): ReadonlyMap<string, string> {
  const canonicals = reader.texts(name)
  if (canonicals.length === 0) return NO_VERSIONS
  const versions = versionsByUrl(canonicals)
  // The place is looked for among all parameters, of which there may be many.
  const wrong = (code: ErrorCode, message: string): OperationError =>
    new OperationError(code, `Parameter '${name}' ${message}.`, { expression: [reader.expressionOf(name)] })
  for (const canonical of canonicals) {
    const { url, version } = canonicalOf(canonical)
    if (version === undefined) throw wrong('parameter-value', `must name a version (url|version), not ${quoted(canonical)}`)
    if (versions.get(url) !== version) throw wrong('parameter-invalid', `names two versions of ${quoted(url)}`)
  }
  return versions
}

const NO_VERSIONS: ReadonlyMap<string, string> = new Map()

/** Reads the resources that came with a request. @throws {OperationError} `parameter-invalid` for a resource that is not a terminology resource. */
export function readTxResources(reader: ParameterReader): readonly JsonObject[] {
  const resources = reader.resources('tx-resource')
  const odd = resources.find((resource) => !TX_TYPES.has(stringAt(resource, 'resourceType') ?? ''))
  if (odd === undefined) return resources
  const type = quoted(stringAt(odd, 'resourceType') ?? '')
  throw new OperationError('parameter-invalid', `A tx-resource must be a terminology resource, not ${type}.`, {
    expression: [reader.expressionOf('tx-resource')],
  })
}

const TX_TYPES: ReadonlySet<string> = new Set(['CodeSystem', 'ValueSet', 'ConceptMap', 'NamingSystem', 'StructureDefinition'])

/** Ignores unknown inputs, unless the caller asked for strict handling. @throws {OperationError} `parameter-invalid` for an unknown input then. */
export function ignoreUnknown(request: Pick<OperationRequest, 'strict'>, reader: ParameterReader): void {
  if (request.strict) reader.refuseUnknown()
}

/** A parsed call of a terminology operation. */
export interface TerminologyCall<Input> {
  /** The context, which also finds the resources that came with the call. */
  readonly ctx: OperationContext
  readonly input: Input
}

/** Reads the inputs of one operation. @throws {OperationError} for missing or malformed inputs. */
type InputReader<Input> = (ctx: OperationContext, request: OperationRequest, reader: ParameterReader) => Input | Promise<Input>

/**
 * Reads a call: the common inputs of terminology operations and, with `read`, those of the operation.
 *
 * @param limitsOf Reads the limits that the caller states.
 * @throws {OperationError} as `read`.
 */
export async function readTerminologyCall<Input>(
  base: OperationContext,
  request: OperationRequest,
  read: InputReader<Input>,
  limitsOf?: (base: OperationContext, reader: ParameterReader) => Partial<Limits>,
): Promise<TerminologyCall<Input>> {
  const reader = parameterReader(request.parameters)
  const resources = readTxResources(reader)
  const ctx = forRequest(base, limitsOf === undefined ? { resources } : { resources, limits: limitsOf(base, reader) })
  const input = await read(ctx, request, reader)
  ignoreUnknown(request, reader)
  return { ctx, input }
}
