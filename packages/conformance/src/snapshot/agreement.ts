import { createContext, type OperationContext } from 'fhir-ops/context'
import { packLayer, packOf, type ContentLayer } from 'fhir-ops/content'
import { OperationError } from 'fhir-ops/errors'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { generateSnapshot } from 'fhir-ops/snapshot'

/** Agreement of generated snapshots with the published ones. */
export interface Agreement {
  readonly definitions: number
  /** Definitions without any difference. */
  readonly same: number
  /** Definitions without a generated snapshot, because their base is not available. */
  readonly withoutBase: number
  /** Published elements. */
  readonly elements: number
  /** Published elements that equal ours in each member. */
  readonly sameElements: number
  /** Published elements that are missing in ours, and elements of ours that are not published. */
  readonly missing: number
  readonly added: number
  /** By member: number of elements that have it, on either side, and of those that differ in it. Includes members without differences. */
  readonly members: Readonly<Record<string, readonly [has: number, differ: number]>>
}

/** Creates a context for generating snapshots. Definitions of packages precede those of R4. */
export function contextOf(release: readonly JsonObject[], others: readonly JsonObject[]): OperationContext {
  return createContext({ storage: memoryStorage(), definitions: [layerOf(others, 'packages', false), layerOf(release, 'release', true)] })
}

function layerOf(definitions: readonly JsonObject[], name: string, isRelease: boolean): ContentLayer {
  return packLayer(packOf(definitions.map((definition) => JSON.stringify(definition))), name, { isRelease })
}

/** Generates the snapshot of each definition that has a differential and a published snapshot, and compares the two element by element. */
export async function agreementOf(ctx: OperationContext, definitions: readonly JsonObject[]): Promise<Agreement> {
  const counts = { definitions: 0, same: 0, withoutBase: 0, elements: 0, sameElements: 0, missing: 0, added: 0 }
  const members: Record<string, [number, number]> = {}
  const known = new Set(definitions.flatMap((one) => snapshotOf(one).flatMap((element) => Object.keys(element))))
  for (const definition of definitions) {
    const published = snapshotOf(definition)
    if (published.length === 0 || objectAt(definition, 'differential') === undefined) continue
    counts.definitions++
    const own = await generated(ctx, definition)
    if (own === undefined) {
      counts.withoutBase++
      continue
    }
    const differences = compare({ published, own, known }, counts, members)
    if (differences === 0) counts.same++
  }
  return { ...counts, members: Object.fromEntries(Object.entries(members).sort(([a], [b]) => a.localeCompare(b))) }
}

async function generated(ctx: OperationContext, definition: JsonObject): Promise<readonly JsonObject[] | undefined> {
  try {
    const { definition: made } = await generateSnapshot(ctx, { definition: { ...definition, snapshot: undefined } })
    return snapshotOf(made)
  } catch (error) {
    if (error instanceof OperationError && error.code === 'definition-not-found') return undefined
    throw error
  }
}

function snapshotOf(definition: JsonObject): readonly JsonObject[] {
  return objectsAt(objectAt(definition, 'snapshot'), 'element')
}

interface Compared {
  readonly published: readonly JsonObject[]
  readonly own: readonly JsonObject[]
  /** Members that any published element of the package has: a package without texts is not compared in them. */
  readonly known: ReadonlySet<string>
}

type Counts = Record<'elements' | 'sameElements' | 'missing' | 'added', number>

function compare({ published, own, known }: Compared, counts: Counts, members: Record<string, [number, number]>): number {
  const byId = new Map(own.map((element) => [stringAt(element, 'id'), element]))
  const ids = new Set(published.map((element) => stringAt(element, 'id')))
  const added = own.filter((element) => !ids.has(stringAt(element, 'id'))).length
  let differing = added
  counts.added += added
  for (const element of published) {
    const mine = byId.get(stringAt(element, 'id'))
    counts.elements++
    if (mine === undefined) counts.missing++
    const isSame = mine !== undefined && compareMembers(element, mine, { known, members })
    if (isSame) counts.sameElements++
    else differing++
  }
  return differing
}

function compareMembers(
  published: JsonObject,
  own: JsonObject,
  { known, members }: { readonly known: ReadonlySet<string>; readonly members: Record<string, [number, number]> },
): boolean {
  let isSame = true
  for (const name of new Set([...Object.keys(published), ...Object.keys(own)])) {
    if (!known.has(name)) continue
    const counted = (members[name] ??= [0, 0])
    counted[0]++
    if (textOf(name, published[name]) === textOf(name, own[name])) continue
    counted[1]++
    isSame = false
  }
  return isSame
}

/** Lists whose order has no meaning. */
const UNORDERED: ReadonlySet<string> = new Set(['alias', 'code', 'condition', 'constraint', 'extension', 'mapping', 'representation'])

/** The text of a member, without differences that no rule covers: pinned versions, the address of R4's pages, and the source of an obligation. */
function textOf(name: string, value: unknown): string {
  const items = Array.isArray(value) && UNORDERED.has(name) ? value.map((item) => JSON.stringify(sorted(item))).sort() : sorted(value)
  return (JSON.stringify(items) ?? '').replaceAll('http://hl7.org/fhir/R4/', 'http://hl7.org/fhir/').replaceAll(/\|\d[\w.-]*/g, '')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isToolMark(item)).map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

function isToolMark(item: unknown): boolean {
  return isObject(item) && item['url'] === 'http://hl7.org/fhir/tools/StructureDefinition/snapshot-source'
}
