import { canonicalOf, formatCanonical, newestOf, type Definition } from '../../content/index.js'
import { checkpoint, paced, type OperationContext } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { storedInstance, type OperationRequest } from '../../operation/index.js'
import type { ParameterReader } from '../../parameters/index.js'
import { implicitDefinition, refuseUnopened } from '../code-system/imported-releases.js'
import { valueSetStep } from '../explain/steps.js'
import { refusal } from '../messages.js'
import { bestVersion, versionFits } from '../versions.js'
import { definedValueSet, readingValueSet, type ValueSetDefinition } from './value-set.js'

/** A value set by its canonical. */
export interface ValueSetByUrl {
  /** Canonical, with or without version. */
  readonly url: string
  /** Version; used when the url has none. */
  readonly valueSetVersion?: string | undefined
  readonly valueSet?: undefined
}

/** A value set as a resource. */
export interface GivenValueSet {
  /** A ValueSet resource. */
  readonly valueSet: object
  readonly url?: undefined
  readonly valueSetVersion?: string | undefined
}

/** How a request names a value set: by `url`, or as a resource in `valueSet`. */
export type ValueSetName = ValueSetByUrl | GivenValueSet

/** `ValueSetName` as plain JavaScript may pass it: perhaps both members, or none. */
export interface LooseValueSetName {
  readonly valueSet?: object | undefined
  readonly url?: string | undefined
  readonly valueSetVersion?: string | undefined
}

/** Creates the error for a value set that is named twice. @param expression The members or parameters. */
export function bothNames(expression: readonly string[]): OperationError {
  return new OperationError('parameter-invalid', 'The value set is named twice: only one of url and valueSet may be given.', { expression })
}

/**
 * Finds the value set that a request names.
 *
 * @param place Place of its url in the input.
 * @throws {OperationError} `not-found` when it does not exist; `parameter-required` when none is named; `parameter-invalid` for a url together with a
 *   value set, and for two different versions.
 */
export async function namedValueSet(ctx: OperationContext, name: LooseValueSetName, place = 'url'): Promise<ValueSetDefinition> {
  const found = await foundValueSet(ctx, name, place)
  ctx.explain?.step(valueSetStep(found, name))
  return found
}

async function foundValueSet(
  ctx: OperationContext,
  { valueSet, url, valueSetVersion }: LooseValueSetName,
  place: string,
): Promise<ValueSetDefinition> {
  if (valueSet !== undefined && url !== undefined) throw bothNames(['url', 'valueSet'])
  refuseOtherVersion(isObject(valueSet) ? stringAt(valueSet, 'version') : canonicalOf(url ?? '').version, valueSetVersion)
  if (isObject(valueSet)) return paced(ctx, readingValueSet(valueSet))
  if (url === undefined)
    throw new OperationError('parameter-required', 'A value set must be named by url, or be given as valueSet.', { expression: [place] })
  const found = await findValueSet(ctx, url, valueSetVersion)
  if (found !== undefined) return definedValueSet(ctx.cache, found)
  const name = formatCanonical(url, valueSetVersion)
  throw refusal(
    'Unable_to_resolve_value_Set_',
    { valueSet: name },
    { code: 'not-found', expression: [place], omitsPlace: true, missing: { kind: 'ValueSet', name } },
  )
}

function refuseOtherVersion(version: string | undefined, asked: string | undefined): void {
  if (asked === undefined || version === undefined || versionFits(asked, version)) return
  const message = `The value set is named with version ${quoted(version)}, and valueSetVersion is ${quoted(asked)}.`
  throw new OperationError('parameter-invalid', message, { expression: ['valueSetVersion'] })
}

/**
 * Reads how a request names a value set: by the id in its path, `valueSet`, `url`, or `context`, an element that is bound to it.
 *
 * @throws {OperationError} `not-found` for an unknown id; `parameter-required` when none is named; `parameter-invalid` for a second name,
 *   except the url of the instance; as `boundValueSet`.
 */
export async function readValueSetName(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<ValueSetName> {
  const [url, valueSet, context] = [reader.text('url'), reader.resource('valueSet'), reader.text('context')]
  const valueSetVersion = reader.text('valueSetVersion')
  const stored = (await storedInstance(ctx, request))?.resource
  if (stored !== undefined) {
    refuseBeside(reader, ['valueSet', 'context'])
    if (url !== undefined && !isNamed(stored, url)) refuseBeside(reader, ['url'])
    return { valueSet: stored, valueSetVersion }
  }
  if (context !== undefined) {
    refuseBeside(reader, ['url', 'valueSet'])
    return { url: await boundValueSet(ctx, context), valueSetVersion }
  }
  if (url !== undefined && valueSet !== undefined) throw bothNames(['url', 'valueSet'].map((name) => reader.expressionOf(name)))
  if (url !== undefined) return { url, valueSetVersion }
  if (valueSet !== undefined) return { valueSet, valueSetVersion }
  throw new OperationError('parameter-required', 'Parameter url is missing: it names the value set.', { expression: ['url'] })
}

function isNamed(stored: JsonObject, canonical: string): boolean {
  const { url, version, fragment } = canonicalOf(canonical)
  return url === stored['url'] && fragment === undefined && (version === undefined || version === stored['version'])
}

function refuseBeside(reader: ParameterReader, names: readonly string[]): void {
  const name = names.find((one) => reader.all(one).length > 0)
  if (name === undefined) return
  throw new OperationError('parameter-invalid', `Parameter '${name}' cannot be given where something else names the value set.`, {
    expression: [reader.expressionOf(name)],
  })
}

/**
 * Returns the canonical of the value set that an element is bound to.
 *
 * @param context `<canonical of a StructureDefinition>#<id or path of the element>`.
 * @throws {OperationError} `not-found` for an unknown StructureDefinition; `parameter-value` for another form, and for an element that does not exist
 *   or is not bound to a value set.
 * @see https://hl7.org/fhir/R4/valueset-operation-expand.html
 */
async function boundValueSet(ctx: OperationContext, context: string): Promise<string> {
  const mark = context.indexOf('#')
  const { url, version } = canonicalOf(context.slice(0, Math.max(mark, 0)))
  if (url === '') throw unusable(`must be the url of a StructureDefinition, # and an element, not ${quoted(context)}`)
  const definition = await ctx.content.resolve('StructureDefinition', url, version)
  if (definition === undefined)
    throw new OperationError('not-found', `StructureDefinition ${quoted(url)} does not exist.`, { expression: ['context'] })
  const valueSet = await bindingIn(ctx, definition.resource, context.slice(mark + 1))
  if (valueSet === undefined) throw unusable(`names no element that is bound to a value set: ${quoted(context)}`)
  return valueSet
}

/** Finds the binding of an element in a definition, or in those that it is based on, which a differential does not repeat. */
async function bindingIn(ctx: OperationContext, structure: JsonObject, name: string): Promise<string | undefined> {
  const seen = new Set<JsonObject>()
  for (let view: JsonObject | undefined = structure; view !== undefined && !seen.has(view);) {
    checkpoint(ctx)
    seen.add(view)
    const found = stringAt(objectAt(elementOf(view, seen.size === 1 ? name : withoutSlices(name)), 'binding'), 'valueSet')
    const base = stringAt(view, 'baseDefinition')
    if (found !== undefined || base === undefined || objectAt(view, 'snapshot') !== undefined) return found
    const { url, version } = canonicalOf(base)
    view = (await ctx.content.resolve('StructureDefinition', url, version))?.resource
  }
  return undefined
}

function elementOf(structure: JsonObject, name: string): JsonObject | undefined {
  const elements = ['snapshot', 'differential'].flatMap((view) => objectsAt(objectAt(structure, view), 'element'))
  return elements.find(({ id }) => id === name) ?? elements.find(({ path }) => path === name)
}

/** Returns the path of an element by its id. */
function withoutSlices(id: string): string {
  return id
    .split('.')
    .map((step) => step.split(':', 1)[0])
    .join('.')
}

function unusable(problem: string): OperationError {
  return new OperationError('parameter-value', `Parameter 'context' ${problem}.`, { expression: ['context'] })
}

const WHOLE = '?fhir_vs'

/**
 * Finds the value set with this canonical: an implicit one of a code system, a ValueSet resource, or the value set of all codes of a CodeSystem, whose
 * canonical is `CodeSystem.valueSet` or `<url>?fhir_vs`. A fragment (`url#x`) means the contained value set `x` of the ValueSet with this url.
 *
 * @param version Used when the canonical has none.
 * @returns `undefined` when there is none. Without any version, the newest is returned.
 * @throws {OperationError} `not-supported` when an imported code system that no code system of the context can open may define it.
 */
export async function findValueSet(ctx: OperationContext, canonical: string, version?: string): Promise<Definition | undefined> {
  const { url, version: named = version, fragment } = canonicalOf(canonical)
  const implicit = await implicitDefinition(ctx, 'ValueSet', canonical)
  // An expression in the url may contain a number sign.
  if (implicit !== undefined && (fragment === undefined || implicit.url === canonical)) return implicit
  if (fragment !== undefined) return containedIn(await findValueSet(ctx, formatCanonical(url, named)), fragment)
  const found = await ctx.content.find('ValueSet', 'url', url)
  if (found.length > 0) return named === undefined ? newestOf(found) : bestVersion(found, named)
  const systems = url.endsWith(WHOLE)
    ? await ctx.content.find('CodeSystem', 'url', url.slice(0, -WHOLE.length))
    : await ctx.content.find('CodeSystem', 'value-set', url)
  const system = named === undefined ? newestOf(systems) : bestVersion(systems, named)
  if (system !== undefined) return allCodesOf(system, url)
  await refuseUnopened(ctx, canonical)
  return undefined
}

/** Returns a contained value set, together with the other contained resources, to which it may refer. */
function containedIn(container: Definition | undefined, id: string): Definition | undefined {
  const contained = container && containedValueSet(container.resource, id)
  if (container === undefined || contained === undefined) return undefined
  const { url, key, id: _ofContainer, ...others } = container
  const resource = { ...contained, contained: container.resource['contained'] }
  return { ...others, url: `${url}#${id}`, resource, ...(key !== undefined && { key: `${key}#${id}` }), parsing: undefined }
}

/** Finds the contained value set with this id. */
export function containedValueSet(resource: JsonObject, id: string): JsonObject | undefined {
  return objectsAt(resource, 'contained').find((item) => item['resourceType'] === 'ValueSet' && stringAt(item, 'id') === id)
}

/** Creates the value set of all codes of a CodeSystem. @see https://hl7.org/fhir/R4/codesystem-definitions.html#CodeSystem.valueSet */
function allCodesOf(system: Definition, url: string): Definition {
  const include = { system: system.url, ...(system.version !== undefined && { version: system.version }) }
  const resource = {
    resourceType: 'ValueSet',
    url,
    status: system.status,
    ...(system.version !== undefined && { version: system.version }),
    compose: { include: [include] },
  }
  return {
    type: 'ValueSet',
    url,
    status: system.status,
    resource,
    ...(system.version !== undefined && { version: system.version }),
    ...(system.key !== undefined && { key: `${system.key} all ${url}` }),
  }
}
