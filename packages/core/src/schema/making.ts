import { canonicalOf } from '../content/index.js'
import { createPace, type OperationContext, type Pace } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import type { TypeModel } from '../fhirpath/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import { compileProfile, notEmpty } from '../validate/profile/compile-profile.js'
import { TYPE_URL, type ElementRule, type Profile } from '../validate/run/element-rule.js'

/** A demand of a definition that the schema does not express. */
export interface Unexpressed {
  /** Id of the element in its StructureDefinition: `Patient.contact`, `Observation.component:systolic`. */
  readonly element: string
  /** `invariant`, `binding`, `slice`, `limit`, `profile` or `target`. */
  readonly kind: 'invariant' | 'binding' | 'slice' | 'limit' | 'profile' | 'target'
  /** What is demanded: key and text of the invariant, canonical of the value set ... */
  readonly text: string
}

/** How a schema is made. */
export interface SchemaForm {
  readonly resources: 'named' | 'whole'
  readonly maxCodes: number
}

/** How what a schema refers to is made; definitions refer to each other in circles. */
export interface Makers {
  /** Of a type of the release: `Patient`, `HumanName`, `code`, `Patient.contact`. */
  readonly type: (making: Making, name: string) => Promise<JsonObject>
  /** Of a profile. */
  readonly profile: (making: Making, profile: Profile) => Promise<JsonObject>
}

/** A schema while it is being made. */
export interface Making {
  readonly makers: Makers
  readonly ctx: OperationContext
  readonly model: TypeModel
  readonly pace: Pace
  readonly form: SchemaForm
  /** What is left to define: the name, and how it is made. */
  readonly waiting: { readonly name: string; readonly make: () => Promise<JsonObject> }[]
  /** Names of definitions, by what they are about. */
  readonly names: Map<string, string>
  readonly taken: Set<string>
  readonly profiles: Map<string, Promise<Profile | undefined>>
  readonly codes: Map<string, Promise<readonly Code[] | undefined>>
  readonly unexpressed: Unexpressed[]
}

/** A code of a value set. */
export interface Code {
  readonly system: string | undefined
  readonly code: string
}

/** @throws {OperationError} `definition-required` when the context has no types. */
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

/** A reference to a definition, which is made later, at its first reference. @param about Identifies it. */
export function definitionRef(making: Making, about: string, name: string, make: () => Promise<JsonObject>): JsonObject {
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

/** The compiled StructureDefinition of a canonical; `undefined` when it is not there. */
export function profileOf(making: Making, canonical: string): Promise<Profile | undefined> {
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

/** What the definition of a type demands: of `Patient.contact` a part of that of `Patient`. */
export async function ruleOfType(making: Making, type: string): Promise<ElementRule | undefined> {
  const [root = ''] = type.split('.', 1)
  const profile = await profileOf(making, TYPE_URL + root)
  return type === root ? profile?.root : profile?.elements.get(type)
}

/** A reference to the schema of a type. */
export function typeRef(making: Making, name: string): JsonObject {
  return definitionRef(making, `type ${name}`, name, () => making.makers.type(making, name))
}

/** A reference to the schema of a StructureDefinition, of a type or a profile; `undefined` when there is none of this canonical. */
export async function profileRef(making: Making, canonical: string): Promise<JsonObject | undefined> {
  // A canonical may name one element of a definition, as a fragment.
  if (canonical.includes('#')) return undefined
  const profile = await profileOf(making, canonical)
  if (profile === undefined) return undefined
  if (profile.isBase) return typeRef(making, profile.type)
  const name = profile.url.slice(profile.url.lastIndexOf('/') + 1)
  return definitionRef(making, profile.canonical, name, () => making.makers.profile(making, profile))
}

/** Notes what a schema cannot say. */
export function note({ unexpressed }: Making, { id }: ElementRule, kind: Unexpressed['kind'], text: string): void {
  unexpressed.push({ element: id, kind, text })
}

/** One schema that demands what all of them do. */
export function oneSchema(parts: readonly JsonObject[]): JsonObject | undefined {
  const [first, ...others] = parts
  if (first === undefined || others.length === 0) return first
  const names = parts.flatMap((part) => Object.keys(part))
  return new Set(names).size === names.length ? Object.assign({}, ...parts) : { allOf: parts }
}

/** A value that has at least what the pattern has: members of objects, and for each item of a list one that fits. */
export function patternSchema(pattern: unknown): JsonObject {
  if (Array.isArray(pattern)) return { allOf: pattern.map((item) => ({ contains: patternSchema(item) })) }
  if (!isObject(pattern)) return { const: pattern }
  const properties = Object.fromEntries(Object.entries(pattern).map(([name, value]) => [name, patternSchema(value)]))
  return { required: Object.keys(pattern), properties }
}
