import type { FhirNode } from '../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../json/index.js'
import type { Look, Plan, PlannedMember, PossibleLook, Run } from '../run/run.js'
import { lookAt } from './look-at.js'

/** Values of one look. What has more is left to the walk, which lets other requests run. */
const VALUES_OF_A_LOOK = 1_000
/** Items of a list that are looked at; longer lists are work of their own. */
const MOST_ITEMS = 50

/** Makes the state of looks. */
export function createLook(home: FhirNode): Look {
  return { home, left: 0, flawed: new Set() }
}

/**
 * Whether no rule has anything to report about a member and all that is in it, so that no node need be made for it; of most members that can be seen
 * from their JSON (bench `validate`). The rules themselves decide: those on types and elements by `when` and `needs`, those on ElementDefinitions by
 * `metTest`. False also where only a visit can decide: identified and extended elements, resources in resources, slices, profiles on types.
 *
 * @param held What the member is in.
 */
export function isPlainMember(run: Run, held: Holder, member: PlannedMember): boolean {
  const { node, plan, holder, hasSiblings } = held
  if (member.look === 'never' || (hasSiblings && Object.hasOwn(holder, member.slot.siblingName))) return false
  run.look.home = node
  run.look.left = VALUES_OF_A_LOOK
  return isPlain(run, plan, holder, member)
}

/** The same for one of several nodes of an element, each of which is in no slice. */
export function isPlainNode(run: Run, { parent, value, extra, slot, index }: FhirNode, look: PossibleLook): boolean {
  if (parent === undefined || slot === undefined || value === undefined || extra !== undefined || !isObject(parent.value)) return false
  const list = parent.value[slot.jsonName]
  if (!Array.isArray(list)) return false
  run.look.home = parent
  run.look.left = VALUES_OF_A_LOOK
  return isPlainValue(run, look, value, numberTextIn(run, value, list, index))
}

/** A node with the object that has its members, and its plan. */
export interface Holder {
  readonly node: FhirNode
  readonly plan: Plan
  readonly holder: JsonObject
  /** True where it has members beside primitive values. */
  readonly hasSiblings: boolean
}

function isPlain(run: Run, plan: Plan, holder: JsonObject, member: PlannedMember): boolean {
  const look = (member.look ??= lookAt(run, plan, member))
  const { jsonName, isCollection } = member.slot
  if (look === undefined || look === 'never') return false
  const value = holder[jsonName]
  if (!isCollection) return look.min <= 1 && look.max >= 1 && isPlainValue(run, look, value, numberTextIn(run, value, holder, jsonName))
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ITEMS) return false
  if (value.length < look.min || value.length > look.max) return false
  for (let index = 0; index < value.length; index++) {
    const item: unknown = value[index]
    if (!isPlainValue(run, look, item, numberTextIn(run, item, value, index))) return false
  }
  return true
}

/** A number as it was written; `''` for all else. */
function numberTextIn(run: Run, value: unknown, holder: object, key: string | number): string {
  return typeof value === 'number' ? (run.numberText(holder, key) ?? String(value)) : ''
}

function isPlainValue(run: Run, look: PossibleLook, value: unknown, source: string): boolean {
  const { plan, form } = look
  if (--run.look.left <= 0) return false
  if (plan !== undefined) return isObject(value) && isPlainObject(run, look, plan, value)
  if (typeof value === 'object' || !isUnremarkable(run, look, value)) return false
  return !run.checksTypes || form?.(value, source, run.now) === undefined
}

function isUnremarkable(run: Run, { whens, demands }: PossibleLook, value: unknown): boolean {
  if (run.checksTypes) for (const when of whens) if (when(value, run)) return false
  for (const isMet of demands) if (!isMet(value, run)) return false
  return true
}

function isPlainObject(run: Run, look: PossibleLook, plan: Plan, value: JsonObject): boolean {
  if (run.look.flawed.size > 0 && run.look.flawed.has(value)) return false
  run.scheduler.step()
  if (arePlain(run, plan, value) && isUnremarkable(run, look, value)) return true
  if (run.look.left > 0) run.look.flawed.add(value)
  return false
}

/** No member has a sibling with an id or extensions, of which the type has no member itself. */
function arePlain(run: Run, plan: Plan, holder: JsonObject): boolean {
  const names = Object.keys(holder)
  let required = 0
  let hasChoice = false
  for (const name of names) {
    const member = plan.members.get(name) ?? plan.member(name)
    if (member === undefined || member.isNeeded || !isPlain(run, plan, holder, member)) return false
    if (member.isRequired) required++
    if (!member.slot.isChoice) continue
    // Of two choices, whichever they are, a visit says more.
    if (hasChoice) return false
    hasChoice = true
  }
  return names.length > 0 && required === plan.requiredElements
}
