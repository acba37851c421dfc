import { canonicalOf } from '../content/index.js'
import { OperationError, quoted, type ErrorCode } from '../errors/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import { type ParameterReader, parameterReader } from '../parameters/index.js'
import { languageList, type LanguageList } from './languages.js'
import { refusal } from './messages.js'
import { versionsByUrl, type VersionRules } from './versions.js'
import { expansionParameterText } from './value-set/value-set.js'
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

/** The languages that the caller requests, each in the form of the `Accept-Language` header. */
export interface AskedLanguages {
  readonly displayLanguage?: string | undefined
  /** The header itself; `displayLanguage` takes precedence. */
  readonly acceptLanguage?: string | undefined
}

/** Reads the requested languages among the inputs. */
export function readLanguages(reader: ParameterReader, request: Pick<OperationRequest, 'acceptLanguage'>): AskedLanguages {
  return { displayLanguage: reader.text('displayLanguage'), acceptLanguage: request.acceptLanguage }
}

/**
 * Returns the languages for a value set, from the first of: displayLanguage, expansion parameter of the value set, header, language of the value set.
 * An invalid list of languages is ignored, except in `displayLanguage`.
 *
 * @throws {OperationError} `parameter-value` when `displayLanguage` is not a list of languages.
 */
export function languagesFor({ displayLanguage, acceptLanguage }: AskedLanguages, valueSet?: JsonObject): LanguageList | undefined {
  if (displayLanguage !== undefined) return languagesOf(displayLanguage)
  const stated = valueSet === undefined ? undefined : expansionParameterText(valueSet, 'displayLanguage')
  const own = optionalList(stringAt(valueSet, 'language'))
  return optionalList(stated) ?? optionalList(acceptLanguage) ?? (own && { ...own, isOfValueSet: true })
}

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

function languagesOf(text: string): LanguageList {
  const list = languageList(text)
  if (list === undefined)
    throw refusal('INVALID_DISPLAY_NAME', { value: text }, { code: 'parameter-value', expression: ['displayLanguage'], omitsPlace: true })
  return list
}

/** Parses an optional list. A list of only `*`, which some clients send by default, states no language. */
function optionalList(text: string | undefined): LanguageList | undefined {
  const list = text === undefined ? undefined : languageList(text)
  return list === undefined || (list.tags.length + list.less.length === 0 && !list.only) ? undefined : list
}

/** Ignores unknown inputs, unless the caller asked for strict handling. @throws {OperationError} `parameter-invalid` for an unknown input then. */
export function ignoreUnknown(request: Pick<OperationRequest, 'strict'>, reader: ParameterReader): void {
  if (request.strict) reader.refuseUnknown()
}

const NO_LIMITS: Partial<Limits> = {}

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
 * @param limitsOf Returns the limits that the caller states.
 * @throws {OperationError} as `read`.
 */
export async function readTerminologyCall<Input>(
  base: OperationContext,
  request: OperationRequest,
  read: InputReader<Input>,
  limitsOf: (base: OperationContext, reader: ParameterReader) => Partial<Limits> = () => NO_LIMITS,
): Promise<TerminologyCall<Input>> {
  const reader = parameterReader(request.parameters)
  const ctx = forRequest(base, { resources: readTxResources(reader), limits: limitsOf(base, reader) })
  const input = await read(ctx, request, reader)
  ignoreUnknown(request, reader)
  return { ctx, input }
}
