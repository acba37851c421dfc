import { canonicalOf } from '../content/index.js'
import { createPace, type OperationContext, type Pace } from '../context/index.js'
import { OperationError, isAboutContent } from '../errors/index.js'
import type { TypeModel } from '../fhirpath/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import { compileProfile, notEmpty } from '../validate/profile/compile-profile.js'
import { TYPE_URL, type ElementRule, type Profile, type BindingRule } from '../validate/run/element-rule.js'
import { expand, type ExpansionEntry } from '../expand/index.js'

/** A requirement of a definition that the schema does not express. */
export interface Unexpressed {
  /** Id of the element in its StructureDefinition: `Patient.contact`, `Observation.component:systolic`. */
  readonly element: string
  /** `invariant`, `binding`, `slice`, `limit`, `profile` or `target`. */
  readonly kind: 'invariant' | 'binding' | 'slice' | 'limit' | 'profile' | 'target'
  /** The requirement: key and text of an invariant, canonical URL of a value set or profile, ... */
  readonly text: string
}

/** Options for generating a schema. */
interface SchemaForm {
  readonly resources: 'named' | 'whole'
  readonly maxCodes: number
}

/** Functions that generate the definitions to which a schema refers. Passed as values because definitions refer to each other in cycles. */
interface Makers {
  /** Generates the schema of a type of the release: `Patient`, `HumanName`, `code`, `Patient.contact`. */
  readonly type: (making: Making, name: string) => Promise<JsonObject>
  /** Generates the schema of a profile. */
  readonly profile: (making: Making, profile: Profile) => Promise<JsonObject>
}

/** State of the generation of one schema. */
export interface Making {
  readonly makers: Makers
  readonly ctx: OperationContext
  readonly model: TypeModel
  readonly pace: Pace
  readonly form: SchemaForm
  /** Definitions still to be generated. */
  readonly waiting: { readonly name: string; readonly make: () => Promise<JsonObject> }[]
  /** Names of definitions, by the `about` of `definitionRef`. */
  readonly names: Map<string, string>
  readonly taken: Set<string>
  readonly profiles: Map<string, Promise<Profile | undefined>>
  readonly codes: Map<string, Promise<readonly Code[] | undefined>>
  readonly unexpressed: Unexpressed[]
}

/** A code of a value set. */
interface Code {
  readonly system: string | undefined
  readonly code: string
}

/** @throws {OperationError} `definition-required` if the context has no types. */
export function startMaking(ctx: OperationContext, form: SchemaForm, makers: Makers): Making {
  if (ctx.types === undefined)
    throw new OperationError('definition-required', 'The types of the release are missing: give the context r4().')
  return {
    ctx,
    model: ctx.types,
    pace: createPace(ctx),
    form,
    makers,
    waiting: [],
    names: new Map(),
    taken: new Set(),
    profiles: new Map(),
    codes: new Map(),
    unexpressed: [],
  }
}

/** Returns a reference to a definition; the first reference queues it for generation. @param about Identifies the definition. */
function definitionRef(making: Making, about: string, name: string, make: () => Promise<JsonObject>): JsonObject {
  const known = making.names.get(about)
  if (known !== undefined) return { $ref: `#/$defs/${known}` }
  const free = freeName(making.taken, name.replaceAll(/[^A-Za-z0-9._-]/g, '-'))
  making.names.set(about, free)
  making.taken.add(free)
  making.waiting.push({ name: free, make })
  return { $ref: `#/$defs/${free}` }
}

function freeName(taken: ReadonlySet<string>, name: string): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`
  return free
}

/** The compiled StructureDefinition with a canonical URL; `undefined` if there is none. */
function profileOf(making: Making, canonical: string): Promise<Profile | undefined> {
  const known = making.profiles.get(canonical)
  if (known !== undefined) return known
  const found = findProfile(making, canonical)
  making.profiles.set(canonical, found)
  return found
}

async function findProfile({ ctx, model, pace }: Making, canonical: string): Promise<Profile | undefined> {
  const { url, version } = canonicalOf(canonical)
  const definition = await ctx.content.resolve('StructureDefinition', url, version)
  await pace.step()
  return definition && notEmpty(await pace.run(compileProfile(definition.resource, model, [])))
}

/** The rule of a type's definition; for `Patient.contact`, the rule of that element in the definition of `Patient`. */
export async function ruleOfType(making: Making, type: string): Promise<ElementRule | undefined> {
  const [root = ''] = type.split('.', 1)
  const profile = await profileOf(making, TYPE_URL + root)
  return type === root ? profile?.root : profile?.elements.get(type)
}

/** A reference to the schema of a type. */
export function typeRef(making: Making, name: string): JsonObject {
  return definitionRef(making, `type ${name}`, name, () => making.makers.type(making, name))
}

/** A reference to the schema of a type or profile by canonical URL; `undefined` if there is no such StructureDefinition. */
export async function profileRef(making: Making, canonical: string): Promise<JsonObject | undefined> {
  // A canonical URL with a fragment names one element of a definition.
  if (canonical.includes('#')) return undefined
  const profile = await profileOf(making, canonical)
  if (profile === undefined) return undefined
  if (profile.isBase) return typeRef(making, profile.type)
  const name = profile.url.slice(profile.url.lastIndexOf('/') + 1)
  return definitionRef(making, profile.canonical, name, () => making.makers.profile(making, profile))
}

/** Records a requirement that the schema cannot express. */
export function note({ unexpressed }: Making, { id }: ElementRule, kind: Unexpressed['kind'], text: string): void {
  unexpressed.push({ element: id, kind, text })
}

/** One schema that combines the requirements of all parts. */
export function oneSchema(parts: readonly JsonObject[]): JsonObject | undefined {
  const [first, ...others] = parts
  if (first === undefined || others.length === 0) return first
  const names = parts.flatMap((part) => Object.keys(part))
  return new Set(names).size === names.length ? Object.assign({}, ...parts) : { allOf: parts }
}

/** Schema of a value that contains the pattern: its members for objects, and a matching item for each item of a list. */
export function patternSchema(pattern: unknown): JsonObject {
  if (Array.isArray(pattern)) return { allOf: pattern.map((item) => ({ contains: patternSchema(item) })) }
  if (!isObject(pattern)) return { const: pattern }
  const properties = Object.fromEntries(Object.entries(pattern).map(([name, value]) => [name, patternSchema(value)]))
  return { required: Object.keys(pattern), properties }
}

/** Maximum number of codes that are listed inline; longer lists become a definition of their own. */
const MOST_INLINE = 12

/** The schema that a required binding implies for values of the type; `undefined` if a schema cannot express it. */
export async function bindingSchema(making: Making, { valueSet, takesText }: BindingRule, type: string): Promise<JsonObject | undefined> {
  const codes = await codesOf(making, valueSet)
  if (codes === undefined || codes.length === 0) return undefined
  const isPrimitive = making.model.type(type)?.kind === 'primitive'
  if (isPrimitive) return shared(making, `${valueSet} code`, valueSet, { enum: [...new Set(codes.map(({ code }) => code))] })
  const coding = codingSchema(codes)
  if (type === 'Coding') return shared(making, `${valueSet} Coding`, `${valueSet}-Coding`, coding)
  if (type !== 'CodeableConcept') return undefined
  const one = shared(making, `${valueSet} Coding`, `${valueSet}-Coding`, coding)
  const withCode: JsonObject = { required: ['coding'], properties: { coding: { contains: one } } }
  return takesText === true ? { anyOf: [withCode, { not: { required: ['coding'] } }] } : withCode
}

/** Schema of a Coding with one of the codes, grouped by system. */
function codingSchema(codes: readonly Code[]): JsonObject {
  const bySystem = Map.groupBy(codes, ({ system }) => system)
  const alternatives = [...bySystem].map(([system, ofSystem]) => ({
    required: ['code', ...(system === undefined ? [] : ['system'])],
    properties: { ...(system !== undefined && { system: { const: system } }), code: { enum: ofSystem.map(({ code }) => code) } },
  }))
  return alternatives.length === 1 && alternatives[0] !== undefined ? alternatives[0] : { anyOf: alternatives }
}

function shared(making: Making, about: string, name: string, schema: JsonObject): JsonObject {
  const { enum: listed } = schema
  if (Array.isArray(listed) && listed.length <= MOST_INLINE) return schema
  return definitionRef(making, about, `ValueSet-${lastOf(name)}`, async () => schema)
}

function lastOf(url: string): string {
  const [last = ''] = url.slice(url.lastIndexOf('/') + 1).split('|')
  return last
}

/** All codes of a value set, including inactive ones; `undefined` if they cannot be listed, or exceed `maxCodes`. */
function codesOf(making: Making, valueSet: string): Promise<readonly Code[] | undefined> {
  const known = making.codes.get(valueSet)
  if (known !== undefined) return known
  const found = listCodes(making, valueSet)
  making.codes.set(valueSet, found)
  return found
}

async function listCodes({ ctx, form }: Making, canonical: string): Promise<readonly Code[] | undefined> {
  const [url = '', version] = canonical.split('|')
  try {
    const { contains, total } = await expand(ctx, {
      url,
      ...(version !== undefined && { valueSetVersion: version }),
      count: form.maxCodes,
      excludeNested: true,
    })
    if (total === undefined || total > form.maxCodes) return undefined
    return contains.flatMap(codeIn)
  } catch (error) {
    // A missing value set or code system does not prevent the schema; the result lists it as unexpressed.
    if (isAboutContent(error)) return undefined
    throw error
  }
}

function codeIn({ system, code, abstract }: ExpansionEntry): readonly Code[] {
  return code === undefined || abstract === true ? [] : [{ system, code }]
}
