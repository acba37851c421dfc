import { codeOfItems, codeOfTruth, spend, type Scope } from '../code.js'
import { isNode, NOTHING, type Item } from '../item.js'
import { pushChildren, skippedBy, type FhirNode } from '../node.js'
import { evaluationProblem } from '../problem.js'
import { toSystem } from '../to-system.js'
import { itemsFunction, singleItem, textArgument, truthFunction, type FunctionDefinition } from './definition.js'

/** Functions of FHIR that need only the resource. @see https://hl7.org/fhir/R4/fhirpath.html#functions */
export const FHIR_FUNCTIONS: readonly FunctionDefinition[] = [
  {
    name: 'extension',
    arity: [1, 1],
    compile: ({ input, args: [url] }) =>
      codeOfItems((scope) => extensions(scope, input.items(scope), textArgument('extension', url?.items(scope)))),
  },
  truthFunction('hasExtension', [1, 1], (input, [url], scope) => extensions(scope, input, textArgument('hasExtension', url)).length > 0),
  {
    name: 'hasValue',
    arity: [0, 0],
    compile: ({ input }) =>
      codeOfTruth((scope) => {
        const items = input.items(scope)
        const [item] = items
        return items.length === 1 && item !== undefined && hasValue(item)
      }),
  },
  itemsFunction('getValue', [0, 0], (input) => {
    const item = singleItem('getValue', input)
    const value = item !== undefined && hasValue(item) ? toSystem(item) : undefined
    return value === undefined ? NOTHING : [value]
  }),
  itemsFunction('checkModifiers', [0, Number.POSITIVE_INFINITY], (input, known, scope) => {
    const allowed = new Set(known.map((url) => textArgument('checkModifiers', url)))
    const found = input.flatMap((item) => (isNode(item) ? named(scope, item, 'modifierExtension') : []))
    for (const modifier of found) {
      const url = urlOf(scope, modifier)
      if (!allowed.has(url)) throw evaluationProblem(`there is an unexpected modifier extension '${(url ?? '').slice(0, 100)}'`)
    }
    return input
  }),
]

function hasValue(item: Item): boolean {
  if (!isNode(item)) return typeof item !== 'object' || item.kind !== 'type'
  return item.value !== undefined && typeof item.value !== 'object'
}

function extensions(scope: Scope, items: readonly Item[], url: string | undefined): readonly Item[] {
  if (url === undefined) return NOTHING
  return items.flatMap((item) => (isNode(item) ? named(scope, item, 'extension') : [])).filter((node) => urlOf(scope, node) === url)
}

function named(scope: Scope, node: FhirNode, name: string): FhirNode[] {
  const into: FhirNode[] = []
  pushChildren(scope.run.model, node, { name, into, skips: skippedBy(scope.run.model) })
  spend(scope.run, into.length + 1)
  return into
}

function urlOf(scope: Scope, node: FhirNode): string | undefined {
  const value = named(scope, node, 'url')[0]?.value
  return typeof value === 'string' ? value : undefined
}
