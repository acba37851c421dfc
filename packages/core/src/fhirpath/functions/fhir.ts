import { codeOfItems, codeOfTruth, spend, spendWriting, answered, type Scope } from '../code.js'
import { NOTHING, isNode, toSystem, type Item, type Items } from '../item.js'
import { pushChildren, skippedBy, type FhirNode } from '../node.js'
import { evaluationProblem } from '../problem.js'
import { itemsFunction, singleItem, textArgument, truthFunction, type FunctionDefinition, type Call } from './definition.js'
import { isObject, stringAt } from '../../json/index.js'
import type { FhirPathHost, Pending } from '../host.js'

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

/** Functions of FHIR that the host answers. @see https://hl7.org/fhir/R4/fhirpath.html#functions */
export const HOST_FUNCTIONS: readonly FunctionDefinition[] = [
  { name: 'resolve', arity: [0, 0], compile: ({ input }) => codeOfItems((scope) => resolveAll(scope, input.items(scope))) },
  asked('memberOf', [1, 1], (item, [valueSet], scope) => {
    const canonical = textArgument('memberOf', valueSet)
    return canonical === undefined ? undefined : hostFunction(scope, 'memberOf')(item, canonical)
  }),
  asked('subsumes', [1, 1], (item, [other], scope) => subsumption(scope, item, singleItem('subsumes', other ?? NOTHING))),
  asked('subsumedBy', [1, 1], (item, [other], scope) => subsumption(scope, singleItem('subsumedBy', other ?? NOTHING), item)),
  asked('conformsTo', [1, 1], (item, [profile], scope) => {
    const canonical = textArgument('conformsTo', profile)
    if (canonical === undefined || !isNode(item)) return undefined
    return hostFunction(scope, 'conformsTo')(item, canonical)
  }),
  asked('htmlChecks', [0, 0], (item, _, scope) => {
    const html = isNode(item) ? item.value : item
    if (typeof html !== 'string') return undefined
    spendWriting(scope.run, html.length)
    return hostFunction(scope, 'htmlChecks')(html)
  }),
  {
    name: 'elementDefinition',
    arity: [0, 0],
    compile: ({ input }) => codeOfItems((scope) => elementDefinitions(scope, input.items(scope))),
  },
  { name: 'slice', arity: [2, 2], compile: slice },
]

type Ask = (item: Item, args: readonly Items[], scope: Scope) => boolean | undefined | Pending

/** Defines a function that the host answers for a single item; empty for empty input. */
function asked(name: string, arity: FunctionDefinition['arity'], ask: Ask): FunctionDefinition {
  return {
    name,
    arity,
    compile: ({ input, args }) =>
      codeOfTruth((scope) => {
        const item = singleItem(name, input.items(scope))
        if (item === undefined) return undefined
        return answered(
          scope.run,
          ask(
            item,
            args.map((arg) => arg.items(scope)),
            scope,
          ),
        )
      }),
  }
}

function hostFunction<K extends keyof FhirPathHost>(scope: Scope, name: K): NonNullable<FhirPathHost[K]> {
  const call = scope.run.context.host?.[name]
  if (call === undefined || call === null) throw evaluationProblem(`${name}() is not available here`)
  return call
}

function subsumption(scope: Scope, general: Item | undefined, specific: Item | undefined): boolean | undefined | Pending {
  return general === undefined || specific === undefined ? undefined : hostFunction(scope, 'subsumes')(general, specific)
}

/** Resolves references, canonicals and uris; those that cannot be resolved are omitted. */
function resolveAll(scope: Scope, items: Items): Items {
  spend(scope.run, items.length)
  const found: Item[] = []
  for (const item of items) {
    const reference = referenceOf(item)
    if (reference === undefined && !(isNode(item) && item.type.name === 'Reference')) continue
    const target = answered(scope.run, hostFunction(scope, 'resolve')(reference, isNode(item) ? item : undefined))
    if (target !== undefined) found.push(target)
  }
  return found
}

function referenceOf(item: Item): string | undefined {
  const value = isNode(item) ? item.value : item
  if (typeof value === 'string') return value
  return isObject(value) ? stringAt(value, 'reference') : undefined
}

function elementDefinitions(scope: Scope, items: Items): Items {
  const find = hostFunction(scope, 'elementDefinition')
  return items.filter(isNode).flatMap((node) => answered(scope.run, find(node)) ?? [])
}

function slice({ input, args: [profile, name] }: Call): ReturnType<FunctionDefinition['compile']> {
  return codeOfItems((scope) => {
    const wanted = { profile: textArgument('slice', profile?.items(scope)) ?? '', name: textArgument('slice', name?.items(scope)) ?? '' }
    const isIn = hostFunction(scope, 'slice')
    return input.items(scope).filter((item) => isNode(item) && answered(scope.run, isIn(item, wanted)) === true)
  })
}
