import { createContext, type OperationContext } from 'fhir-ops/context'
import { packLayer, packOf, type ContentLayer } from 'fhir-ops/content'
import { OperationError } from 'fhir-ops/errors'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { generateSnapshot } from 'fhir-ops/snapshot'

/** Reasons for differences, by member. */
const REASONS: Readonly<Record<string, string>> = {
  alias: 'texts of extensions: R4 kept those of the base in some slices where later tools take those of the extension',
  base: 'logical models name the base in two ways',
  binding:
    'a name that is common to several bindings (`isCommonBinding`) was inherited until 2021; older tools kept bindings of types that cannot be bound',
  comment:
    'comments of extensions were inherited until 2019; other versions of extensions were loaded by the publisher; some link to pages by other addresses',
  condition: 'some tools copied `ele-1` from the root of the type or extension, others do not',
  constraint: 'two writings of the XPath of `ext-1` in R4; constraints of the base without `source` get one here, and got none until 2021',
  contentReference:
    'R4 refers to the element alone (`#Observation.referenceRange`), all later tools with the url of the definition, as here',
  definition: 'texts of extensions in other versions; primitive types, whose texts R4 took from elsewhere than the differential',
  extension: 'the standards status of an element was inherited until 2021',
  fixedUri: 'another version of the extension was loaded by the publisher',
  isModifier: 'logical models, for which some tools write `false`',
  isModifierReason: 'slices of extensions in other versions',
  isSummary: 'some tools leave it out for slices of extensions, some write `false`',
  mapping: 'white space; mappings of extensions, which R4 inherited in some slices',
  max: 'older tools did not hand on to slices what the profile says below what is sliced, nor its own maximum',
  maxLength: 'primitive types, whose limits R4 took from elsewhere than the differential',
  maxValueInteger: 'as `maxLength`',
  meaningWhenMissing: 'one tool leaves it out where an extension states it',
  min: 'older tools left the minimum of what is sliced below the sum of its slices, and did not hand on to slices what the profile says below what is sliced',
  minValueInteger: 'as `maxLength`',
  mustSupport: 'older tools did not hand on to slices what the profile says below what is sliced',
  pattern: 'as `fixedUri`',
  requirements: 'links to pages by other addresses',
  short: 'texts of extensions in other versions; primitive types, whose texts R4 took from elsewhere than the differential',
  slicing: 'one tool left out the slicing of a choice in slices with a `valueQuantity`; logical models',
  type: 'the type of `id` in newer copies of R4; older tools did not hand on to slices what the profile says below what is sliced',
}

const HEAD = `# Snapshots compared with published ones

[\`generateSnapshot\`](snapshot.md) over the definitions of published packages, compared with the snapshots that the packages bring, element by element and member by member. Published
snapshots differ among themselves, as the tools that made them did: R4 is of 2019, US Core 4.0.0 of 2021, IPS 2.0.0 of 2024, SDC and the extensions of 2025. Where the tools differ,
what the newest do is done here. Not compared: the order of constraints, mappings, conditions, aliases, codes and extensions; versions that a publisher adds to canonicals; whether links to R4
lead to \`/fhir/\` or \`/fhir/R4/\`; marks of tools. The packages of US Core and IPS 1.1.0 were compared without texts.

This page is written by \`npx vitest run --config vitest.workspace.ts --project @fhir-ops/conformance src/snapshot -u\` from \`packages/conformance/passing/snapshots.json\`; with
\`REFRESH_PASSING=1\` it is counted again, of the packages that are there.

`

/** Creates the page `docs/operations/snapshot-agreement.md`. @throws if a member differs without a reason in `REASONS`. */
export function agreementPage(agreements: Readonly<Record<string, Agreement>>): string {
  const entries = Object.entries(agreements)
  const rows = entries.map(([name, one]) => {
    const compared = one.definitions - one.withoutBase
    const missing = one.withoutBase === 0 ? '' : ` (${one.withoutBase} more without their base)`
    return `| ${name} | ${compared}${missing} | ${one.same} | ${one.elements} | ${one.sameElements} | ${percent(one.sameElements, one.elements)} | ${one.missing} | ${one.added} |\n`
  })
  const names = [...new Set(entries.flatMap(([, { members }]) => Object.keys(members)))].sort()
  return `${HEAD}| package | definitions | the same | elements | the same | | missing here | only here |\n|---|---|---|---|---|---|---|---|\n${rows.join('')}
Elements that are missing or only here: \`valueQuantity\` as a slice or as the element itself (R4 and US Core), an extension that R4 repeated, children of slices that older tools did not hand on, and
three profiles of R4 that slice what is not sliced.

## By member

| member | elements with it | agree | | why the rest differ |
|---|---|---|---|---|
${names.map((name) => memberRow(name, entries)).join('')}`
}

function memberRow(name: string, entries: readonly (readonly [string, Agreement])[]): string {
  const counts = entries.map(([, { members }]) => members[name] ?? [0, 0])
  const has = counts.reduce((sum, [all]) => sum + all, 0)
  const differ = counts.reduce((sum, [, differing]) => sum + differing, 0)
  const reason = REASONS[name]
  if (differ > 0 && reason === undefined) throw new Error(`No reason is written down why ${name} differs ${differ} times.`)
  return `| \`${name}\` | ${has} | ${has - differ} | ${percent(has - differ, has)} | ${differ === 0 ? '' : (reason ?? '')} |\n`
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '' : `${((100 * part) / whole).toFixed(2)} %`
}

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
