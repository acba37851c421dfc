import {
  isNode,
  isSubtype,
  PENDING,
  rootNode,
  type CompiledPath,
  type FhirNode,
  type FhirPathBudget,
  type FhirPathContext,
  type FhirPathHost,
  type Item,
  type TypeModel,
} from '../../fhirpath/index.js'
import { isObject, stringAt } from '../../json/index.js'
import { isResourceType } from '../../storage/index.js'
import { TYPE_URL } from '../../text/index.js'
import { localReference } from './address.js'
import type { DirectPath } from './direct-path.js'
import { shapeFinder, type KnownShape, type Shape } from './shapes.js'

/** Returns the values, as JSON, that an expression finds from the root of a resource or from an item found before. */
type ValuesOf = (expression: string, from?: Item) => readonly unknown[]

/**
 * Evaluates the expressions of search parameters: each is compiled once, and evaluated once for each place of a resource. A value that two branches
 * of a union find is returned twice.
 */
interface Selector {
  /** Creates the selection for a resource. @param typeOf Returns the type of the target of a fragment (`#m`). */
  ofResource(root: FhirNode, typeOf: TypeOf): Selection
}

/** Evaluates expressions on one resource. */
export interface Selection {
  readonly valuesOf: ValuesOf
  /** Returns the items that an expression finds from the root, as start of further expressions. */
  readonly itemsOf: (expression: string) => readonly Item[]
  /** The shape of its root. */
  readonly shape: Shape
}

type TypeOf = (fragment: string) => string | undefined

/** Published expressions visit each element a few times, and the limit on bodies bounds the number of elements. */
const INDEXING: FhirPathBudget = { steps: 100_000_000, items: 10_000_000 }

/** Creates a selector. @param base Address of this server, to find the type of absolute references. */
export function createSelector(model: TypeModel, base: string | undefined): Selector {
  const hostOf = (typeOf: TypeOf): FhirPathHost => ({
    resolve: (address = '', from) => typedStub(model, typeOf(address) ?? targetType(address, from?.value, base)),
  })
  const shapeOf = shapeFinder(model)
  return {
    ofResource(resource, typeOf) {
      const context: FhirPathContext = { resource, host: hostOf(typeOf), budget: INDEXING }
      const root: Place = { item: resource, shape: shapeOf(resource) }
      const leadsTo = (reference: unknown, type: string): boolean => {
        const address = isObject(reference) ? stringAt(reference, 'reference') : undefined
        const target = model.type(typeOf(address ?? '') ?? targetType(address, reference, base) ?? '')
        return target !== undefined && isSubtype(model, target, type)
      }
      const find = (expression: string, { item, shape }: Place): readonly unknown[] => {
        const found: unknown[] = []
        for (const branch of shape.branchesOf(expression)) {
          if (!pushDirect(found, branch.direct, { item, leadsTo })) pushValues(found, branch.path.evaluate(context, item))
        }
        return found
      }
      const places = new Map<Item, FoundBefore>([[resource, { ...root, found: new Map() }]])
      const valuesOf: ValuesOf = (expression, from) => {
        if (from === undefined) return find(expression, root)
        const place = places.get(from) ?? { item: from, shape: shapeOf(from), found: new Map() }
        places.set(from, place)
        const found = place.found.get(expression) ?? find(expression, place)
        place.found.set(expression, found)
        return found
      }
      const itemsOf = (expression: string): readonly Item[] =>
        root.shape.branchesOf(expression).flatMap(({ path }) => itemsIn(path.evaluate(context, resource)))
      return { valuesOf, itemsOf, shape: root.shape }
    },
  }
}

/** An item where expressions start. */
interface Place {
  readonly item: Item
  readonly shape: KnownShape
}

/** Keeps results by expression, because composites evaluate the same components for the same values. */
interface FoundBefore extends Place {
  readonly found: Map<string, readonly unknown[]>
}

/** Expressions resolve references only to test the target's type, which the reference itself states. */
function typedStub(model: TypeModel, type: string | undefined): FhirNode | undefined {
  return type === undefined ? undefined : rootNode(model, { resourceType: type })
}

interface DirectReading {
  readonly item: Item
  readonly leadsTo: (reference: unknown, type: string) => boolean
}

/** Adds the results of a direct path. Returns false and adds nothing if the path has to be evaluated. */
function pushDirect(found: unknown[], direct: DirectPath | undefined, { item, leadsTo }: DirectReading): boolean {
  if (direct === undefined || !isNode(item) || !isObject(item.value)) return false
  const before = found.length
  const isRead = direct.read(item.value, found)
  if (!isRead) found.length = before
  else if (direct.target !== undefined) {
    const { target } = direct
    found.push(...found.splice(before).filter((reference) => leadsTo(reference, target)))
  }
  return isRead
}

type Evaluated = ReturnType<CompiledPath['evaluate']>

function pushValues(found: unknown[], items: Evaluated): void {
  for (const item of itemsIn(items)) found.push(isNode(item) ? item.value : item)
}

/** Removes elements that have only extensions. */
function itemsIn(items: Evaluated): readonly Item[] {
  return items === PENDING ? [] : items.filter((item) => !isNode(item) || item.value !== undefined)
}

/**
 * Returns the type of the target of a Reference, as far as the Reference states it: by its address, on this server or another, or by `type`, for a
 * Reference with only an identifier.
 *
 * @param address The `reference` of the Reference, if it has one.
 * @param base Address of this server.
 */
function targetType(address: string | undefined, reference: unknown, base: string | undefined): string | undefined {
  const type = isObject(reference) ? stringAt(reference, 'type') : undefined
  const named = type?.startsWith(TYPE_URL) === true ? type.slice(TYPE_URL.length) : type
  return typeInAddress(address ?? '', base) ?? (named !== undefined && isResourceType(named) ? named : undefined)
}

function typeInAddress(address: string, base: string | undefined): string | undefined {
  const local = localReference(address, base)
  if (local !== undefined || !/^https?:/.test(address)) return local?.type
  const segments = address.split('/')
  return (localReference(segments.slice(-2).join('/'), undefined) ?? localReference(segments.slice(-4).join('/'), undefined))?.type
}
