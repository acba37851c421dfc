import { codeOfItems, type Code, spend, type Scope } from './code.js'
import { isNode, NOTHING, type Item, type Items } from './item.js'
import { isSubtype, type TypeModel } from './model.js'
import { countChildren, pushChildren, type FhirNode } from './node.js'
import { evaluationProblem } from './problem.js'
import { toSystem } from './to-system.js'

/**
 * Compiles a step to the elements with a name. At the head of a path, a type name means the focus itself if it is of that type.
 *
 * @see https://hl7.org/fhirpath/N1/#path-selection
 */
export function compileMember(target: Code | undefined, name: string, model: TypeModel): Code {
  const step = memberStep(name, model)
  if (target !== undefined) {
    return {
      ...codeOfItems((scope) => step.items(scope, target.items(scope))),
      count: (scope) => step.count(scope, target.items(scope)),
    }
  }
  if (isTypeName(name, model)) return codeOfItems((scope) => ofTypeOrMember(scope, name, step))
  return { ...codeOfItems((scope) => step.items(scope, scope.focus)), count: (scope) => step.count(scope, scope.focus) }
}

/** Compiles an indexer: the item at a position, from 0; empty when there is none. */
export function compileIndexer(target: Code, position: Code): Code {
  return codeOfItems((scope) => {
    const at = position.items(scope)
    if (at.length === 0) return NOTHING
    const index = toSystem(at[0])
    if (at.length > 1 || typeof index !== 'number') throw evaluationProblem('an indexer needs one Integer')
    const item = target.items(scope)[index]
    return item === undefined ? NOTHING : [item]
  })
}

interface MemberStep {
  items(scope: Scope, input: Items): Items
  count(scope: Scope, input: Items): number
}

function memberStep(name: string, model: TypeModel): MemberStep {
  const pushStep = (into: Item[], item: Item): void => {
    if (!isNode(item)) pushTypeInfo(into, item, name)
    else if (name === 'value' && item.type.kind === 'primitive') pushValue(into, item)
    else pushChildren(model, item, { name, into })
  }
  return {
    items(scope, input) {
      const [only] = input
      if (only === undefined) return NOTHING
      const into: Item[] = []
      if (input.length === 1) pushStep(into, only)
      else for (const item of input) pushStep(into, item)
      spend(scope.run, input.length + into.length)
      return into
    },
    count(scope, input) {
      const [only] = input
      if (input.length !== 1 || !isNode(only) || only.type.kind === 'primitive') return this.items(scope, input).length
      spend(scope.run, 1)
      return countChildren(only, name)
    },
  }
}

function isTypeName(name: string, model: TypeModel): boolean {
  return /^[A-Z]/.test(name) && model.type(name) !== undefined
}

function ofTypeOrMember(scope: Scope, name: string, step: MemberStep): Items {
  const { focus } = scope
  const { model } = scope.run
  const [only] = focus
  if (focus.length === 1 && isNode(only) && isSubtype(model, only.type, name)) return focus
  return step.items(scope, focus)
}

/** Adds the `value` of a primitive element, which is its System value. */
function pushValue(values: Item[], node: FhirNode): void {
  const value = toSystem(node)
  if (value !== undefined) values.push(value)
}

function pushTypeInfo(values: Item[], item: Item, name: string): void {
  if (typeof item !== 'object' || item.kind !== 'type') return
  if (name === 'name') values.push(item.name)
  if (name === 'namespace') values.push(item.namespace)
  if (name === 'baseType') values.push(item.baseType)
}
