import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { Work } from '../../../work/index.js'
import type { ElementRule, SlicingRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { ElementNodes } from '../../run/nodes.js'
import { rootsOf } from '../profile/conforms.js'
import type { Run, SlicePlan, SliceQuestion } from '../../run/run.js'
import { needsUnknownCodes } from '../codes/bound-codes.js'
import { checkCount } from '../structure/check-shape.js'
import { extensionUrl, isInSlice, urlOf } from './slice-match.js'
import { sliceObstacle } from './slice-obstacle.js'

const SLICE_UNMATCHED: FindingDefinition = defineFinding(
  'slice-unmatched',
  'information',
  'informational',
  'No action needed; if the element is meant for a slice, check the values of the discriminator.',
)
const SLICE_CLOSED: FindingDefinition = defineFinding(
  'slice-closed',
  'error',
  'invalid',
  'Make the element match one of the slices, or remove it.',
)
const SLICE_ORDER: FindingDefinition = defineFinding('slice-order', 'error', 'invalid', 'Put the elements into the order of the slices.')
const SLICE_SEVERAL: FindingDefinition = defineFinding(
  'slice-several',
  'error',
  'invalid',
  'Make the element match one slice only, or make the slices of the profile exclude each other.',
)

const SLICING_UNSOUND: FindingDefinition = defineFinding(
  'slicing-unsound',
  'error',
  'processing',
  'Correct the discriminators or the slices of the profile.',
)

/** The kinds of findings about slices. */
export const SLICE_FINDINGS: readonly FindingDefinition[] = [SLICING_UNSOUND, SLICE_UNMATCHED, SLICE_CLOSED, SLICE_ORDER, SLICE_SEVERAL]

const BY_URL: SlicingRule = {
  discriminators: [{ type: 'value', path: 'url', steps: [{ kind: 'child', name: 'url' }] }],
  rules: 'open',
  ordered: false,
}
const BY_TYPE: SlicingRule = { discriminators: [{ type: 'type', path: '$this', steps: [] }], rules: 'open', ordered: false }
const BY_CONTENT: SlicingRule = { discriminators: [], rules: 'open', ordered: false }

/** The rules of the slices that each node is in. */
export type SliceRules = Map<FhirNode, ElementRule[]>

/** Assigns the nodes of an element to the slices of its rules. Reports what the slicing forbids, and slices with too few or too many nodes. */
export function* assignSlices(run: Run, element: ElementNodes, rules: readonly ElementRule[]): Work<SliceRules> {
  const assigned: SliceRules = new Map()
  const groups: SliceAssignment[] = []
  for (const group of rules) {
    if (group.slices.length > 0) groups.push(yield* assignGroup(run, element, { group, rules, assigned }))
    else if (group.slicing?.rules === 'closed') groups.push({ group, slicing: group.slicing, places: element.nodes.map(() => []) })
  }
  for (const family of familiesOf(run, groups)) reportFamily(run, element.nodes, family)
  return assigned
}

/** Groups of slices, each with those of its base profiles: a node outside of its slices may be in theirs. */
function familiesOf(run: Run, groups: readonly SliceAssignment[]): readonly (readonly SliceAssignment[])[] {
  if (groups.length < 2) return groups.map((own) => [own])
  const families = groups.map((own) => {
    const profile = run.definitions.profile(own.group.profile)
    const [, ...bases] = profile === undefined || profile === PENDING ? [] : rootsOf(run, profile).map((root) => root.profile)
    return { own, inherited: groups.filter(({ group }) => bases.includes(group.profile)) }
  })
  const inherited = new Set(families.flatMap((family) => family.inherited))
  return families.filter(({ own }) => !inherited.has(own)).map((family) => [family.own, ...family.inherited])
}

interface Group {
  /** The rule that has the slices. */
  readonly group: ElementRule
  /** All rules for the element. */
  readonly rules: readonly ElementRule[]
  readonly assigned: SliceRules
}

function* assignGroup(run: Run, element: ElementNodes, { group, rules, assigned }: Group): Work<SliceAssignment> {
  const plan = planOf(run, element, { group, rules })
  const { slicing } = plan
  const obstacle = obstacleIn(run, element, plan)
  if (obstacle !== undefined) {
    for (const node of element.nodes)
      run.findings.report(SLICING_UNSOUND, node, { text: `Slicing cannot be evaluated: ${obstacle}.`, profile: group.profile })
    return { group, slicing: BY_TYPE, places: element.nodes.map(() => []) }
  }
  const places: (readonly ElementRule[])[] = []
  for (const node of element.nodes) {
    run.scheduler.step()
    places.push(placesOf(run, node, plan))
    yield
  }
  for (const slice of group.slices) {
    const nodes = element.nodes.filter((_, index) => places[index]?.includes(slice))
    checkSize(run, element.parent, { slice, size: nodes.length })
    for (const node of nodes) addTo(assigned, node, slice)
    if (slice.slices.length > 0)
      reportFamily(run, nodes, [yield* assignGroup(run, { ...element, nodes }, { group: slice, rules: [slice], assigned })])
  }
  checkOrder(run, element.nodes, { group, slicing, places })
  return { group, slicing, places }
}

/** Checks the cardinality of a slice. Too few nodes are not reported if unknown codes decide which nodes are in it. */
function checkSize(run: Run, parent: FhirNode, { slice, size }: { slice: ElementRule; size: number }): void {
  if (size < slice.min && needsUnknownCodes(run, slice)) return
  checkCount(run, parent, { rule: slice, count: size })
}

function addTo(assigned: SliceRules, node: FhirNode, slice: ElementRule): void {
  const known = assigned.get(node)
  if (known === undefined) assigned.set(node, [slice])
  else known.push(slice)
}

function impliedSlicing({ slot }: ElementNodes): SlicingRule {
  if (slot.isChoice) return BY_TYPE
  return slot.type === 'Extension' ? BY_URL : BY_CONTENT
}

/** The plan of the slices of a rule, made once as long as the rules beside it are the same (bench `validate`). */
function planOf(run: Run, element: ElementNodes, { group, rules }: Omit<Group, 'assigned'>): SlicePlan {
  const { slot, parent } = element
  const known = run.plans.slices.get(group)
  if (known?.slot === slot && known.parent === parent.type && isSameList(known.rules, rules)) return known
  const others = rules.filter((rule) => rule !== group)
  const slicing = group.slicing ?? others.find((rule) => rule.slicing !== undefined)?.slicing ?? impliedSlicing(element)
  const questions = group.slices.map((slice): SliceQuestion => {
    const same = others.flatMap((rule) => rule.slices.filter(({ sliceName }) => sliceName === slice.sliceName))
    return { slice, same, discriminators: slicing.discriminators }
  })
  const made: SlicePlan = { slot, parent: parent.type, rules, slicing, questions }
  run.plans.slices.set(group, made)
  return made
}

function isSameList(one: readonly ElementRule[], other: readonly ElementRule[]): boolean {
  return one === other || (one.length === other.length && one.every((rule, index) => rule === other[index]))
}

function obstacleIn(run: Run, { nodes: [first], slot, parent }: ElementNodes, plan: SlicePlan): string | undefined {
  if (first === undefined || slot.isChoice || isByUrl(plan.slicing, first)) return undefined
  if (plan.obstacle !== undefined) return plan.obstacle.text
  const element = { type: parent.type.name, name: slot.name }
  let text: string | undefined
  for (const question of plan.questions) {
    const found = sliceObstacle(run, element, question)
    if (found === PENDING) return undefined
    text ??= found
  }
  plan.obstacle = { text }
  return text
}

function placesOf(run: Run, node: FhirNode, { slicing, questions }: SlicePlan): readonly ElementRule[] {
  const url = isByUrl(slicing, node) ? { wanted: urlOf(node) } : undefined
  const own = questions.filter((question) =>
    url === undefined ? isInSlice(run, node, question) : urlOfSlice([question.slice, ...question.same]) === url.wanted,
  )
  return own.map(({ slice }) => slice)
}

function urlOfSlice(slices: readonly ElementRule[]): string | undefined {
  return slices.map(extensionUrl).find((url) => url !== undefined)
}

function isByUrl({ discriminators: [only, second] }: SlicingRule, node: FhirNode): boolean {
  return node.type.name === 'Extension' && only?.path === 'url' && second === undefined
}

/** The slices of the nodes of an element, in the order of the nodes. */
interface SliceAssignment {
  readonly group: ElementRule
  readonly slicing: SlicingRule
  readonly places: readonly (readonly ElementRule[])[]
}

function reportFamily(run: Run, nodes: readonly FhirNode[], family: readonly SliceAssignment[]): void {
  if (family.every(({ group }) => group.slices.length === 0)) return
  for (const [index, node] of nodes.entries())
    reportSeveral(
      run,
      node,
      family.flatMap(({ places }) => places[index] ?? []),
    )
  reportOutside(run, nodes, family)
}

/** Reports the nodes that are in no slice of a profile and its base profiles: an error if the slicing is closed, otherwise information. */
function reportOutside(run: Run, nodes: readonly FhirNode[], family: readonly SliceAssignment[]): void {
  const [leader] = family
  if (leader === undefined) return
  const closed = family.find(({ slicing, group }) => slicing.rules === 'closed' || isTaken(slicing, group))
  const { name, profile } = (closed ?? leader).group
  if (closed === undefined && leader.slicing === BY_TYPE) return
  for (const [index, node] of nodes.entries()) {
    if (family.some(({ places }) => places[index]?.length !== 0)) continue
    const slices = new Set(family.flatMap(({ group }) => group.slices.map(({ sliceName }) => `'${sliceName}'`)))
    run.findings.report(closed === undefined ? SLICE_UNMATCHED : SLICE_CLOSED, node, {
      text: `This element does not match any known slice: none of ${[...slices].join(', ')} of '${name}'.`,
      profile,
    })
  }
}

/** A choice has one value: if one of its types is required, no other is possible, even if the slicing is open. */
function isTaken(slicing: SlicingRule, { isChoice, slices }: ElementRule): boolean {
  return isChoice && isImplied(slicing) && slices.some(({ min }) => min > 0)
}

/** True for slicing by type only, which every choice has without being sliced by a profile. */
function isImplied({ discriminators: [only, second] }: SlicingRule): boolean {
  return second === undefined && only?.type === 'type' && only.path === '$this'
}

/** Reports a node that is in several slices of a profile and its base profiles. Slices with the same name are the same, and a slice can have slices. */
function reportSeveral(run: Run, node: FhirNode, slices: readonly ElementRule[]): void {
  if (slices.length < 2) return
  const names = new Set(slices.flatMap(({ sliceName }) => sliceName ?? []))
  const apart = [...names].filter((name) => ![...names].some((outer) => name.startsWith(`${outer}/`)))
  if (apart.length < 2) return
  run.findings.report(SLICE_SEVERAL, node, {
    text: `This element matches several slices: ${apart.map((name) => `'${name}'`).join(', ')}.`,
    profile: slices[0]?.profile ?? '',
  })
}

/** Reports nodes that are out of order, if the slicing is ordered or open at the end. */
function checkOrder(run: Run, nodes: readonly FhirNode[], { group, slicing, places }: SliceAssignment): void {
  const end = group.slices.length
  const positions = places.map(([slice]) => (slice === undefined ? end : group.slices.indexOf(slice)))
  let reached = 0
  for (const [index, node] of nodes.entries()) {
    const position = positions[index] ?? end
    if (isLate(slicing, { position, reached, end })) {
      const [slice] = places[index] ?? []
      run.findings.report(SLICE_ORDER, node, {
        text: `Slice '${slice?.sliceName}' of '${group.name}' is out of order.`,
        profile: group.profile,
      })
    }
    if (position < end || slicing.rules === 'openAtEnd') reached = Math.max(reached, position)
  }
}

function isLate(slicing: SlicingRule, { position, reached, end }: { position: number; reached: number; end: number }): boolean {
  if (position === end) return false
  return slicing.ordered ? position < reached : slicing.rules === 'openAtEnd' && reached === end
}
