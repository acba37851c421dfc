import { definitionEntries } from '../../content/index.js'
import { checkHas } from '../../errors/index.js'
import { rootNode, type Item } from '../../fhirpath/index.js'
import { stringAt, type JsonObject } from '../../json/index.js'
import { CONTAINED_PARAM, type ContainedEntry, type IndexEntry, type Indexer } from '../../storage/index.js'
import { finished, type Work } from '../../work/index.js'
import { tupleFields } from '../kinds/composite.js'
import type { EntryFields } from '../kinds/kind.js'
import { kindOf } from '../kinds/registry.js'
import { containerOf, type Container, type ContainedMember } from './address.js'
import { createSelector, type Selection, type Shape } from './selector.js'
import type { SearchParameter, SearchParameters } from '../parameters/search-parameter.js'
import { checkOptions, inputShape, TEXT, type InputShape } from '../../input/index.js'

/** Options of `createIndexer`. */
export interface IndexerOptions {
  /** Address of this server, without a trailing slash: an absolute reference with this base is indexed as a local one. */
  readonly base?: string | undefined
}

const SHAPE: InputShape = inputShape<IndexerOptions>({ base: TEXT })

/**
 * Creates an indexer, which creates the index entries of a resource: those of its type's search parameters, those by which definitions are
 * resolved, and those of modifiers with separate entries under `<code>:<modifier>`; and the entries of contained resources. Expressions are
 * compiled at their first use.
 *
 * @throws {TypeError} for an option that is unknown or of the wrong type.
 */
export function createIndexer(parameters: SearchParameters, options: IndexerOptions = {}): Indexer {
  checkOptions('createIndexer', SHAPE, options)
  checkHas('The list of search parameters', parameters, ['model', 'of'])
  const selector = createSelector(parameters.model, options.base)
  const parametersIn = new WeakMap<Shape, readonly SearchParameter[]>()
  const applying = (shape: Shape, type: string): readonly SearchParameter[] => {
    const known =
      parametersIn.get(shape) ?? parameters.of(type).filter(({ unites, expression }) => unites.length === 0 && shape.mayFind(expression))
    parametersIn.set(shape, known)
    return known
  }
  function* entriesIn(container: Container, resource: JsonObject): Work<readonly IndexEntry[]> {
    const { shape, ...selection } = selector.ofResource(rootNode(parameters.model, resource), container.typeOf)
    const scope: IndexScope = { ...selection, base: options.base, addressOf: container.addressOf }
    const found: IndexEntry[] = []
    for (const parameter of applying(shape, stringAt(resource, 'resourceType') ?? '')) {
      const finding = findingOf(scope, parameter)
      // A search through a long list takes long, even if it finds nothing.
      yield
      if (finding.count === 0) continue
      const entries = finding.count <= PORTION ? distinct(finding.entries(0, finding.count)) : yield* entriesOfMany(finding)
      for (const entry of entries) found.push(entry)
    }
    return found
  }
  function* work(resource: JsonObject): Work<readonly IndexEntry[]> {
    const container = containerOf(resource)
    const found = yield* entriesIn(container, resource)
    return [...found, ...container.members.map(referenceTo), ...distinct(definitionEntries(resource))]
  }
  function* contained(resource: JsonObject): Work<readonly ContainedEntry[]> {
    const container = containerOf(resource)
    const made: ContainedEntry[] = []
    for (const { type, id, resource: member } of container.members) {
      made.push({ type, id, entries: [idEntry(member), ...(yield* entriesIn(container, member))] })
    }
    return made
  }
  return Object.assign((resource: JsonObject) => finished(work(resource)), { work, contained })
}

function referenceTo({ type, id }: ContainedMember): IndexEntry {
  return { param: CONTAINED_PARAM, system: type, value: id }
}

/** Creates the entry for the id of a resource within its container; its id in storage is different. */
function idEntry(member: JsonObject): IndexEntry {
  return { param: '_id', value: stringAt(member, 'id') ?? '' }
}

interface IndexScope extends Pick<Container, 'addressOf'>, Pick<Selection, 'valuesOf' | 'itemsOf'> {
  readonly base: string | undefined
}

/** The values that a parameter finds in a resource. */
interface Finding {
  /** Number of values. */
  readonly count: number
  /** Creates the entries of a range of values. */
  readonly entries: (from: number, to: number) => readonly IndexEntry[]
}

function findingOf(scope: IndexScope, parameter: SearchParameter): Finding {
  if (parameter.components.length === 0) {
    const values = scope.valuesOf(parameter.expression)
    return { count: values.length, entries: (from, to) => entriesOf(scope, parameter, values.slice(from, to)) }
  }
  const items = scope.itemsOf(parameter.expression)
  return { count: items.length, entries: (from, to) => tupleEntries(scope, parameter, items.slice(from, to)) }
}

/** Number of values whose entries are created in one step. */
const PORTION = 256

function* entriesOfMany({ count, entries }: Finding): Work<Iterable<IndexEntry>> {
  const found = new Map<string, IndexEntry>()
  for (let from = 0; from < count; from += PORTION) {
    yield
    for (const entry of entries(from, from + PORTION)) found.set(keyOf(entry), entry)
  }
  return found.values()
}

function entriesOf(scope: IndexScope, parameter: SearchParameter, values: readonly unknown[]): readonly IndexEntry[] {
  const { code, kind } = parameter
  const found: IndexEntry[] = []
  for (const value of values) pushEntries(found, code, fieldsOf(scope, parameter, value))
  for (const { name, fields } of kindOf(kind)?.entryModifiers ?? [])
    for (const value of values) pushEntries(found, `${code}:${name}`, fields(value))
  return found
}

function tupleEntries(scope: IndexScope, parameter: SearchParameter, items: readonly Item[]): readonly IndexEntry[] {
  const found: IndexEntry[] = []
  for (const item of items) pushEntries(found, parameter.code, tuplesOf(scope, parameter, item))
  return found
}

function pushEntries(found: IndexEntry[], param: string, fields: readonly EntryFields[]): void {
  for (const entry of fields) found.push(entryOf(param, entry))
}

function fieldsOf(
  { base, addressOf }: IndexScope,
  { kind, system, targets }: Pick<SearchParameter, 'kind' | 'system' | 'targets'>,
  value: unknown,
): readonly EntryFields[] {
  return kindOf(kind)?.fields(value, { base, system, targets, addressOf }) ?? []
}

function tuplesOf(scope: IndexScope, { components }: SearchParameter, item: Item): readonly EntryFields[] {
  const parts: (readonly EntryFields[])[] = []
  for (const { type, expression, targets } of components) {
    const values = scope.valuesOf(expression, item)
    if (values.length === 0) return []
    parts.push(values.flatMap((value) => fieldsOf(scope, { kind: type, system: undefined, targets }, value)))
  }
  return tupleFields(components, parts)
}

/** Creates an entry. Written out for texts, which most entries have, because spreading takes a second object of the same size. */
function entryOf(param: string, fields: EntryFields): IndexEntry {
  const { system, value, text, low, high } = fields
  if (value === undefined || low !== undefined || high !== undefined) return { param, ...fields }
  if (system === undefined) return text === undefined ? { param, value } : { param, value, text }
  return text === undefined ? { param, system, value } : { param, system, value, text }
}

/** Up to this many entries are compared pairwise instead of by key. */
const FEW = 8

function distinct(entries: readonly IndexEntry[]): readonly IndexEntry[] {
  if (entries.length < 2) return entries
  if (entries.length <= FEW) return entries.filter((entry, index) => entries.findIndex((other) => isSame(other, entry)) === index)
  return [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()]
}

function isSame(a: IndexEntry, b: IndexEntry): boolean {
  const isOfText = a.param === b.param && a.system === b.system && a.value === b.value && a.text === b.text
  return isOfText && a.low === b.low && a.high === b.high
}

function keyOf({ param, system, value, text, low, high }: IndexEntry): string {
  return JSON.stringify([param, system, value, text, low, high])
}
