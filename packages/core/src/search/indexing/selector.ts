import {
  childNames,
  compileBranches,
  isNode,
  PENDING,
  rootNode,
  type CompiledPath,
  type FhirNode,
  type FhirPathBudget,
  type FhirPathHost,
  type Item,
  type TypeModel,
} from '../../fhirpath/index.js'
import { neededNames } from './needed-names.js'
import { targetType } from './target-type.js'

/** Something that an expression found in a resource. */
export interface Value {
  /** As it stands in the resource's JSON. */
  readonly json: unknown
  readonly item: Item
  readonly resource: FhirNode
}

/** Evaluates the expressions of search parameters, each compiled once. What two branches of a union find is found twice. */
export interface Selector {
  /** What expressions find in a resource. @param typeOf The type that a fragment (`#m`) leads to. */
  ofResource(root: FhirNode, typeOf: (fragment: string) => string | undefined): (expression: string) => readonly Value[]
  /** From a value that was found before; for components of composites. */
  ofValue(value: Value, expression: string): readonly Value[]
}

/** Published expressions step over each element a few times; how many elements there are, the limit on bodies says. */
const INDEXING: FhirPathBudget = { steps: 100_000_000, items: 10_000_000 }

/** @param base Address of this server; absolute references on it have a type. */
export function createSelector(model: TypeModel, base: string | undefined): Selector {
  const compiled = new Map<string, Compiled>()
  const hostOf = (typeOf: (fragment: string) => string | undefined): FhirPathHost => ({
    resolve: (address = '', from) => typedStub(model, typeOf(address) ?? targetType(address, from?.value, base)),
  })
  const compiledOf = (expression: string): Compiled => {
    const known = compiled.get(expression)
    if (known !== undefined) return known
    const made = { branches: compileBranches(expression, { model }), needs: neededNames(expression) }
    compiled.set(expression, made)
    return made
  }
  const elsewhere = hostOf(() => undefined)
  const select = ({ branches }: Compiled, focus: Item, { resource, host = elsewhere }: Surroundings): readonly Value[] =>
    branches.flatMap((branch) => {
      const items = branch.evaluate({ resource, host, budget: INDEXING }, focus)
      return items === PENDING ? [] : items.flatMap((item) => valueOf(item, resource))
    })
  return {
    ofResource(root, typeOf) {
      const names = childNames(root)
      const surroundings = { resource: root, host: hostOf(typeOf) }
      return (expression) => {
        const known = compiledOf(expression)
        return known.needs?.some((name) => names.has(name)) === false ? [] : select(known, root, surroundings)
      }
    },
    ofValue: ({ resource, item }, expression) => select(compiledOf(expression), item, { resource }),
  }
}

interface Surroundings {
  readonly resource: FhirNode
  readonly host?: FhirPathHost
}

interface Compiled {
  readonly branches: readonly CompiledPath[]
  /** Most parameters of a type find nothing in most resources: what names they need says so sooner than their evaluation. */
  readonly needs: readonly string[] | undefined
}

/** Expressions resolve references only to ask for the target's type, which the reference itself tells. */
function typedStub(model: TypeModel, type: string | undefined): FhirNode | undefined {
  return type === undefined ? undefined : rootNode(model, { resourceType: type })
}

function valueOf(item: Item, resource: FhirNode): readonly Value[] {
  const json = isNode(item) ? item.value : item
  return json === undefined ? [] : [{ json, item, resource }]
}
