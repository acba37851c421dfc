import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject, objectsAt, stringAt, shownJson } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import {
  canBe,
  elementsOf,
  fits,
  hasGoodName,
  isNoType,
  MAP_VARIABLE,
  type Mode,
  type Scope,
  type Shape,
  shapeOf,
  structureNamed,
  typeNamed,
  typesOf,
  type Variable,
} from './scope.js'
import { checkTransform, MAP_PATH } from './transforms.js'

/** A list mode without a list, or a maximum above that of the element. */
export const MAP_LIST: FindingDefinition = defineFinding(
  'structure-map-list',
  'warning',
  'invalid',
  'State numbers and modes of lists where there is a list to choose from.',
)

/** The place of a rule. */
interface RulePlace {
  readonly map: FhirNode
  readonly callables: Callables
  readonly scope: Scope
  /** False when the inputs of the group have no types. Then contexts may be names of types, as in an example of R4. */
  readonly isTyped: boolean
}

/** Checks a rule and those inside it. */
export async function checkRule(run: Run, rule: FhirNode, place: RulePlace): Promise<void> {
  const wait = run.scheduler.turn()
  if (wait !== undefined) await wait
  hasGoodName(run, rule, textOf(rule, 'name') ?? '')
  const inside = { ...place, scope: place.scope.inner() }
  let count = 1
  for (const source of childrenOf(run, rule, 'source')) count *= checkSource(run, source, inside)
  for (const target of childrenOf(run, rule, 'target')) checkTarget(run, target, inside, count)
  for (const inner of childrenOf(run, rule, 'rule')) await checkRule(run, inner, inside)
  checkCalls(run, rule, inside)
}

/** The variable that a source or target starts from. */
function contextOf(run: Run, node: FhirNode, mode: Mode, { scope, isTyped }: RulePlace): Variable | undefined {
  const name = textOf(node, 'context') ?? ''
  if (!hasGoodName(run, node, name)) return undefined
  const variable = scope.find(name, mode)
  if (variable === undefined)
    run.findings.report(MAP_VARIABLE, node, {
      text: `There is no ${mode} ${quoted(name)} here.`,
      ...(!isTyped && { severity: 'warning' }),
    })
  return variable
}

/** Checks a source. Returns how often it can occur. */
function checkSource(run: Run, node: FhirNode, place: RulePlace): number {
  const context = contextOf(run, node, 'source', place)
  const [element, name] = [textOf(node, 'element'), textOf(node, 'variable')]
  if (name === undefined && context?.shape !== undefined)
    run.findings.report(MAP_LIST, node, {
      text: 'The source has no variable, so nothing is done with what it finds.',
      severity: 'information',
    })
  const found = context === undefined || element === undefined ? context : sourceAt(run, node, context, { element, map: place.map })
  if (name !== undefined) addVariable(run, node, place, { ...(found ?? UNKNOWN), name, mode: 'source' })
  return element === undefined ? 1 : (found ?? UNKNOWN).max
}

/** An unknown element can have any type and number. */
const UNKNOWN: Pick<Variable, 'shape' | 'max'> = { shape: undefined, max: Number.POSITIVE_INFINITY }

/** Adds a variable, even if its name is wrong, so that this is reported only once. */
function addVariable(run: Run, node: FhirNode, { scope }: RulePlace, variable: Variable): void {
  hasGoodName(run, node, variable.name)
  scope.add(variable)
}

function sourceAt(
  run: Run,
  node: FhirNode,
  context: Variable,
  { element, map }: { readonly element: string; readonly map: FhirNode },
): Pick<Variable, 'shape' | 'max'> {
  const shape = elementAt(run, node, context, element)
  if (shape === undefined) return UNKNOWN
  const [written, most] = [textOf(node, 'type'), context.max * shape.rule.max]
  const type = written === undefined ? undefined : typeNamed(map, written, 'source')
  if (type !== undefined && (isNoType(run, type) || !canBe(run, shape, type)))
    run.findings.report(MAP_PATH, node, { text: `${quoted(element)} is ${typesOf(shape).join(' or ')}, and cannot be ${quoted(type)}.` })
  const max = statedMax(node) ?? most
  if (max > most)
    run.findings.report(MAP_LIST, node, {
      text: `There are at most ${most} of ${quoted(element)}, so that a maximum of ${max} says nothing.`,
    })
  return { shape: type === undefined ? shape : { ...shape, type }, max: Math.min(max, most) }
}

/** The stated maximum; `*` is the same as no maximum. */
function statedMax({ value }: FhirNode): number | undefined {
  const max = isObject(value) ? value['max'] : undefined
  return typeof max === 'string' && /^\d+$/.test(max) ? Number(max) : undefined
}

/** The element of a variable by its name. Reports if there is none, or more than one. */
function elementAt(run: Run, node: FhirNode, { name, shape }: Variable, element: string): Shape | undefined {
  const found = shape && elementsOf(run, shape, element)
  if (shape === undefined || found === undefined) return undefined
  const types = typesOf(shape).join(' or ') || shape.rule.path
  if (found.length === 0)
    run.findings.report(MAP_PATH, node, { text: `${quoted(name)} is ${types}, which has no element ${quoted(element)}.` })
  if (found.length > 1)
    run.findings.report(MAP_PATH, node, {
      text: `${quoted(name)} is ${types}, of which several have ${quoted(element)}, so it is not known which is meant.`,
      severity: 'warning',
    })
  return found.length === 1 ? found[0] : undefined
}

function checkTarget(run: Run, node: FhirNode, place: RulePlace, count: number): void {
  const isFree = textOf(node, 'context') === undefined
  const context = isFree ? undefined : contextOf(run, node, 'target', place)
  if (context?.shape !== undefined) checkListMode(run, node, count)
  const [element, name] = [textOf(node, 'element'), textOf(node, 'variable')]
  const shape = context === undefined || element === undefined ? undefined : elementAt(run, node, context, element)
  const type = checkTransform(run, node, { map: place.map, scope: place.scope, shape })
  if (name === undefined) return
  addVariable(run, node, place, { name, mode: 'target', shape: targetShape(run, node, shape, type), max: count })
}

/** The shape of a target's variable: the created type, or the element itself if its definition states its content. */
function targetShape(run: Run, node: FhirNode, shape: Shape | undefined, type: string | undefined): Shape | undefined {
  if (shape !== undefined && shape.rule.children.size > 0) return shape
  if (type !== undefined) return shapeOf(run, type)
  const types = shape === undefined ? [] : typesOf(shape)
  if (types.length > 1)
    run.findings.report(MAP_PATH, node, {
      text: `It is not known which of its types is meant (${types.join(', ')}), so that nothing can be said of its elements.`,
      severity: 'warning',
    })
  return shape
}

function checkListMode(run: Run, node: FhirNode, count: number): void {
  const [modes, id] = [childrenOf(run, node, 'listMode').map(({ value }) => value), textOf(node, 'listRuleId')]
  const say = (text: string): void => run.findings.report(MAP_LIST, node, { text })
  if (id !== undefined && !modes.includes('share')) say('A listRuleId is only of use with the listMode share.')
  if (count > 1) return
  if (modes.length > 0) say('The rule is carried out once at most, so that a listMode says nothing.')
  if (id !== undefined) say('The rule is carried out once at most, so that a listRuleId says nothing.')
}

/** A call of a group that does not exist, or with inputs that it does not take. */
export const MAP_CALL: FindingDefinition = defineFinding(
  'structure-map-call',
  'error',
  'not-found',
  'Call a group of this map or of one that it imports, with as many variables as the group has inputs.',
)

/** An input of a group. */
interface Input {
  readonly name: string
  readonly mode: Mode
  /** Code or canonical; absent when any type is allowed. */
  readonly type: string | undefined
}

/** A group that rules can call. */
export interface Callable {
  readonly name: string
  /** Whether it is called for values of its types when a rule names no group. */
  readonly isDefault: boolean
  readonly inputs: readonly Input[]
}

/** The groups that the rules of a map can call. */
export interface Callables {
  /** The groups of the map itself come first. */
  readonly groups: readonly Callable[]
  /** False when an import is not known, so that there may be other groups. */
  readonly areAll: boolean
  /** Records the variables that a group of the map is called with. Returns those of its first call; `undefined` when this is the first, or the group is imported. */
  readonly called: (group: Callable, given: readonly Variable[]) => readonly Variable[] | undefined
}

/** The groups of a map. */
export function groupsOf(map: JsonObject): readonly Callable[] {
  return objectsAt(map, 'group').map((group) => ({
    name: stringAt(group, 'name') ?? '',
    isDefault: /^(types|type-and-types)$/.test(stringAt(group, 'typeMode') ?? ''),
    inputs: objectsAt(group, 'input').map((input) => {
      const [mode, type]: [Mode, string | undefined] = [input['mode'] === 'target' ? 'target' : 'source', stringAt(input, 'type')]
      return { name: stringAt(input, 'name') ?? '', mode, type: type && (structureNamed(map, type, mode)?.url ?? type) }
    }),
  }))
}

/** The call of a rule whose author names no group: it means the group for the types of its two variables. */
const DEFAULT_GROUP = { name: 'DefaultMappingGroupAnonymousAlias', variable: 'vvv' }

/** The place of a rule that calls groups. */
interface CallPlace {
  readonly callables: Callables
  readonly scope: Scope
}

/** Checks the calls of a rule. */
function checkCalls(run: Run, rule: FhirNode, place: CallPlace): void {
  for (const call of childrenOf(run, rule, 'dependent')) {
    const name = textOf(call, 'name') ?? ''
    if (name === DEFAULT_GROUP.name) checkDefaultCall(run, call, place)
    else checkCall(run, call, name, place)
  }
}

/** The group with a name. Reports a missing one; as a warning if an import is not known. */
export function groupNamed(run: Run, node: FhirNode, name: string, { groups, areAll }: Callables): Callable | undefined {
  const group = groups.find((one) => one.name === name)
  if (group === undefined)
    run.findings.report(MAP_CALL, node, { text: `There is no group ${quoted(name)}.`, ...(!areAll && { severity: 'warning' }) })
  return group
}

function checkCall(run: Run, call: FhirNode, name: string, { callables, scope }: CallPlace): void {
  const group = groupNamed(run, call, name, callables)
  if (group === undefined) return
  const [variables, { inputs }] = [childrenOf(run, call, 'variable'), group]
  if (variables.length !== inputs.length) {
    const text = `The group ${quoted(name)} has ${inputs.length} inputs, but is called with ${variables.length}.`
    run.findings.report(MAP_CALL, call, { text, code: 'invalid' })
    return
  }
  const given = inputs.map((input, index) => givenFor(run, variables[index], input, scope))
  const known = given.filter((one) => one !== undefined)
  const before = known.length < given.length ? undefined : callables.called(group, known)
  if (before?.every(({ shape }, index) => isSame(shape, known[index]?.shape)) === false)
    run.findings.report(MAP_CALL, call, {
      text: `The group ${quoted(name)} is also called with other types, and checked by those.`,
      severity: 'warning',
      code: 'invalid',
    })
}

function isSame(one: Shape | undefined, other: Shape | undefined): boolean {
  return one?.rule === other?.rule && one?.type === other?.type
}

/** The variable that is given for an input, with the name of the input. A map may also read what it writes. */
function givenFor(run: Run, node: FhirNode | undefined, { name, mode, type }: Input, scope: Scope): Variable | undefined {
  if (node === undefined) return undefined
  const written = shownJson(node.value)
  const say = (text: string): void => run.findings.report(MAP_CALL, node, { text, code: 'invalid' })
  const variable = scope.find(written, mode) ?? (mode === 'source' ? scope.find(written, 'target') : undefined)
  if (variable === undefined) {
    say(`The input ${quoted(name)} takes a ${mode}, and there is no ${mode} ${quoted(written)} here.`)
    return undefined
  }
  const { shape } = variable
  if (shape !== undefined && type !== undefined && !fits(run, shape, type)) {
    say(`The input ${quoted(name)} takes ${quoted(type)}, but ${quoted(written)} is ${typesOf(shape).join(' or ')}.`)
    return undefined
  }
  return { ...variable, name, mode }
}

/** Checks that there is a group for both types, of which the first is called. Where several types are possible, nothing is certain. */
function checkDefaultCall(run: Run, call: FhirNode, { callables, scope }: CallPlace): void {
  const [source, target] = [scope.find(DEFAULT_GROUP.variable, 'source')?.shape, scope.find(DEFAULT_GROUP.variable, 'target')?.shape]
  if (source === undefined || target === undefined) return
  if (typesOf(source).length > 1 || typesOf(target).length > 1) {
    const text = 'Which group is called depends on types that are known only when the map is run.'
    run.findings.report(MAP_CALL, call, { text, severity: 'warning' })
    return
  }
  const isFor = ({ isDefault, inputs: [first, second, ...more] }: Callable): boolean =>
    isDefault &&
    more.length === 0 &&
    first?.type !== undefined &&
    second?.type !== undefined &&
    fits(run, source, first.type) &&
    fits(run, target, second.type)
  if (callables.groups.some(isFor)) return
  run.findings.report(MAP_CALL, call, {
    text: `There is no group for ${typesOf(source).join(' or ')} and ${typesOf(target).join(' or ')}.`,
    ...(!callables.areAll && { severity: 'warning' }),
  })
}
