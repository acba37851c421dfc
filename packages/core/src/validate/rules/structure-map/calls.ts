import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { fits, typesOf, type Shape, structureNamed, type Mode, type Scope, type Variable } from './scope.js'

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
export function checkCalls(run: Run, rule: FhirNode, place: CallPlace): void {
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
  const written = String(node.value)
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

/** Checks that there is a group for both types, of which the first is called. */
function checkDefaultCall(run: Run, call: FhirNode, { callables, scope }: CallPlace): void {
  const [source, target] = [scope.find(DEFAULT_GROUP.variable, 'source')?.shape, scope.find(DEFAULT_GROUP.variable, 'target')?.shape]
  if (source === undefined || target === undefined) return
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
