import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { ResourceRule, Run } from '../../run/run.js'
import { type Callable, type Callables, checkRule, groupNamed, groupsOf, MAP_CALL, MAP_LIST } from './check-rule.js'
import {
  isNoType,
  isUnknown,
  shapeOf,
  type Shape,
  structureNamed,
  WRITTEN,
  hasGoodName,
  MAP_NAME,
  MAP_VARIABLE,
  scopeOf,
  type Scope,
  type Variable,
} from './scope.js'
import { MAP_PATH, MAP_TRANSFORM, MAP_TRANSLATION } from './transforms.js'

const MAP_IMPORT: FindingDefinition = defineFinding(
  'structure-map-import',
  'warning',
  'invalid',
  'Load the map, or correct its canonical; until then calls of its groups are not checked.',
)
const MAP_INPUT: FindingDefinition = defineFinding(
  'structure-map-input',
  'error',
  'not-supported',
  'Give the input a type that the map declares by an alias, or that FHIR has.',
)

/** StructureMaps. */
export const structureMapRule: ResourceRule = {
  on: ['StructureMap'],
  finds: [MAP_IMPORT, MAP_NAME, MAP_INPUT, MAP_VARIABLE, MAP_PATH, MAP_LIST, MAP_TRANSFORM, MAP_TRANSLATION, MAP_CALL],
  check: checkStructureMap,
}

/** A group of the map: its node, and the form in which it is called. */
interface Group {
  readonly node: FhirNode
  readonly callable: Callable
}

/**
 * Checks that a map reads and writes existing elements, with known variables and existing groups. A group whose inputs have no types is checked with the
 * variables of its first call.
 */
async function checkStructureMap(run: Run, map: FhirNode): Promise<void> {
  if (!isObject(map.value)) return
  const [nodes, own] = [childrenOf(run, map, 'group'), groupsOf(map.value)]
  const groups = new Map(nodes.flatMap((node, index) => (own[index] === undefined ? [] : [[own[index], node] as const])))
  const [calls, order] = [new Map<Callable, readonly Variable[]>(), new Set(own.filter(isTyped))]
  const callables = {
    ...(await callablesOf(run, map, own)),
    called: (group: Callable, given: readonly Variable[]) => {
      if (!groups.has(group)) return undefined
      const before = calls.get(group)
      if (before === undefined) calls.set(group, given)
      order.add(group)
      return before
    },
  }
  checkNames(run, groups)
  const checked = new Set<Callable>()
  for (const start of [undefined, ...own]) {
    if (start !== undefined) order.add(start)
    for (const callable of order) {
      order.delete(callable)
      const node = groups.get(callable)
      if (node === undefined || checked.has(callable)) continue
      checked.add(callable)
      await checkGroup(run, map, { node, callable }, { callables, given: calls.get(callable) ?? [] })
      await run.scheduler.turn()
    }
  }
}

function isTyped({ inputs }: Callable): boolean {
  return inputs.every(({ type }) => type !== undefined)
}

async function callablesOf(run: Run, map: FhirNode, own: readonly Callable[]): Promise<Pick<Callables, 'groups' | 'areAll'>> {
  const maps = new Set<JsonObject>()
  let areAll = true
  for (const node of childrenOf(run, map, 'import')) {
    if (typeof node.value !== 'string') continue
    const imported = importedMaps(run, node.value)
    if (imported?.length === 0) run.findings.report(MAP_IMPORT, node, { text: `The map ${quoted(node.value)} could not be found.` })
    if (imported === undefined || imported.length === 0) areAll = false
    for (const one of imported ?? []) maps.add(one)
    await run.scheduler.turn()
  }
  return { groups: [...own, ...[...maps].flatMap(groupsOf)], areAll }
}

/** The maps of an import, in which `*` stands for any characters; `undefined` while they, or some of them, are not known. */
function importedMaps({ definitions }: Run, canonical: string): readonly JsonObject[] | undefined {
  if (canonical.includes('*')) {
    const all = definitions.maps()
    return all === PENDING ? undefined : all?.filter(({ url }) => typeof url === 'string' && matchesPattern(url, canonical))
  }
  const found = definitions.definition('StructureMap', canonical)
  return found === PENDING ? undefined : [found ?? []].flat()
}

/** Whether a text matches a pattern, in which `*` stands for any characters. */
function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop() ?? ''
  const end = text.length - last.length
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= end
}

function checkNames(run: Run, groups: ReadonlyMap<Callable, FhirNode>): void {
  const seen = new Set<string>()
  for (const [{ name }, node] of groups) {
    hasGoodName(run, node, name)
    if (seen.has(name)) run.findings.report(MAP_NAME, node, { text: `There is another group ${quoted(name)}.` })
    seen.add(name)
  }
}

interface GroupPlace {
  readonly callables: Callables
  /** The variables of its first call; empty when it is not called. */
  readonly given: readonly Variable[]
}

async function checkGroup(run: Run, map: FhirNode, { node, callable }: Group, { callables, given }: GroupPlace): Promise<void> {
  const [extended] = childrenOf(run, node, 'extends')
  if (typeof extended?.value === 'string') groupNamed(run, extended, extended.value, callables)
  const scope = scopeOf([])
  for (const [index, input] of childrenOf(run, node, 'input').entries()) checkInput(run, map, input, { scope, given: given[index] })
  const isKnown = callable.inputs.some(({ type }) => type !== undefined) || given.length > 0
  for (const rule of childrenOf(run, node, 'rule')) await checkRule(run, rule, { map, callables, scope, isTyped: isKnown })
}

interface InputPlace {
  readonly scope: Scope
  /** The variable that the group is called with for this input. */
  readonly given: Variable | undefined
}

function checkInput(run: Run, map: FhirNode, node: FhirNode, { scope, given }: InputPlace): void {
  const [name, mode, type] = [textOf(node, 'name') ?? '', textOf(node, 'mode'), textOf(node, 'type')]
  if (!hasGoodName(run, node, name, 'not-supported') || (mode !== 'source' && mode !== 'target')) return
  if (scope.all().some((one) => one.name === name)) {
    run.findings.report(MAP_NAME, node, { text: `There is another input ${quoted(name)}.`, code: 'duplicate' })
    return
  }
  if (type !== undefined) return scope.add({ name, mode, max: 1, shape: checkType(run, map, node, { type, mode }) })
  if (given === undefined)
    run.findings.report(MAP_INPUT, node, {
      text: `The input ${quoted(name)} has no type, so its elements are not checked.`,
      severity: 'warning',
    })
  scope.add(given ?? { name, mode, max: 1, shape: undefined })
}

function checkType(
  run: Run,
  map: FhirNode,
  node: FhirNode,
  { type, mode }: { readonly type: string; readonly mode: 'source' | 'target' },
): Shape | undefined {
  const structure = structureNamed(map.value, type, mode)
  const say = (text: string, rest: Partial<Pick<Finding, 'severity' | 'code'>>): void =>
    run.findings.report(MAP_INPUT, node, { text, ...rest })
  if (structure !== undefined && mode === 'target' && structure.mode !== undefined && !WRITTEN.has(structure.mode))
    say(`The map declares ${quoted(type)} to be ${structure.mode}, so that it cannot be written to.`, {})
  const named = structure?.url ?? type
  if (!isUnknown(run, named)) return shapeOf(run, named)
  if (structure === undefined && isNoType(run, type)) say(`There is no type ${quoted(type)}.`, { code: 'invalid' })
  else say(`The definition ${quoted(named)} could not be found, so its elements are not checked.`, { severity: 'warning', code: 'invalid' })
  return undefined
}
