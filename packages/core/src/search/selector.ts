import {
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
} from '../fhirpath/index.js'
import { localReference } from './kinds/reference.js'

/** Something that an expression found in a resource. */
export interface Value {
  /** As it stands in the resource's JSON. */
  readonly json: unknown
  readonly item: Item
  readonly resource: FhirNode
}

/** Evaluates the expressions of search parameters, each compiled once. What two branches of a union find is found twice. */
export interface Selector {
  ofResource(root: FhirNode, expression: string): readonly Value[]
  /** From a value that was found before; for components of composites. */
  ofValue(value: Value, expression: string): readonly Value[]
}

/** Published expressions step over each element a few times; how many elements there are, the limit on bodies says. */
const INDEXING: FhirPathBudget = { steps: 100_000_000, items: 10_000_000 }

/** @param base Address of this server; absolute references on it have a type. */
export function createSelector(model: TypeModel, base: string | undefined): Selector {
  const compiled = new Map<string, readonly CompiledPath[]>()
  const host: FhirPathHost = { resolve: (reference) => typedStub(model, localReference(reference, base)) }
  const branchesOf = (expression: string): readonly CompiledPath[] => {
    const known = compiled.get(expression)
    if (known !== undefined) return known
    const branches = compileBranches(expression, { model })
    compiled.set(expression, branches)
    return branches
  }
  const select = (resource: FhirNode, expression: string, focus: Item): readonly Value[] =>
    branchesOf(expression).flatMap((branch) => {
      const items = branch.evaluate({ resource, host, budget: INDEXING }, focus)
      return items === PENDING ? [] : items.flatMap((item) => valueOf(item, resource))
    })
  return {
    ofResource: (root, expression) => select(root, expression, root),
    ofValue: ({ resource, item }, expression) => select(resource, expression, item),
  }
}

/** Expressions resolve references only to ask for the target's type, which the reference itself tells. */
function typedStub(model: TypeModel, local: { readonly type: string; readonly id: string } | undefined): FhirNode | undefined {
  return local && rootNode(model, { resourceType: local.type, id: local.id })
}

function valueOf(item: Item, resource: FhirNode): readonly Value[] {
  const json = isNode(item) ? item.value : item
  return json === undefined ? [] : [{ json, item, resource }]
}
