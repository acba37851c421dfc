import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule, SlicingRule } from '../../profile/element-rule.js'
import type { ElementNodes } from '../../walk/visit-element.js'
import { rootsOf } from '../../walk/profile-roots.js'
import type { Run } from '../../walk/run.js'
import { needsUnknownCodes } from '../binding/coded-fits.js'
import type { Work } from '../../../work/index.js'
import { checkCount } from '../cardinality/count.js'
import { checkOrder, reportOutside, reportSeveral, type Places } from './slice-findings.js'
import { extensionUrl, isInSlice } from './slice-match.js'

const BY_URL: SlicingRule = {
  discriminators: [{ type: 'value', path: 'url', steps: [{ kind: 'child', name: 'url' }] }],
  rules: 'open',
  ordered: false,
}
const BY_TYPE: SlicingRule = { discriminators: [{ type: 'type', path: '$this', steps: [] }], rules: 'open', ordered: false }
const BY_CONTENT: SlicingRule = { discriminators: [], rules: 'open', ordered: false }

/** The rules of slices that each node is in. */
export type SliceRules = Map<FhirNode, ElementRule[]>

/**
 * Sorts the nodes of an element into the slices of its rules. Reports what the slicing forbids, and slices of which there are too few or
 * too many.
 */
export function* assignSlices(run: Run, element: ElementNodes, rules: readonly ElementRule[]): Work<SliceRules> {
  const assigned: SliceRules = new Map()
  const groups: Places[] = []
  for (const group of rules) {
    if (group.slices.length > 0) groups.push(yield* assignGroup(run, element, { group, rules, assigned }))
  }
  for (const family of familiesOf(run, groups)) reportOutside(run, element.nodes, family)
  return assigned
}

/** Groups of slices, each with those of the profiles on which its own builds: what is in none of its slices may be in one of theirs. */
function familiesOf(run: Run, groups: readonly Places[]): readonly (readonly Places[])[] {
  if (groups.length < 2) return groups.map((own) => [own])
  const families = groups.map((own) => {
    const profile = run.facts.profile(own.group.profile)
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

function* assignGroup(run: Run, element: ElementNodes, { group, rules, assigned }: Group): Work<Places> {
  const others = rules.filter((rule) => rule !== group)
  const slicing = group.slicing ?? others.find((rule) => rule.slicing !== undefined)?.slicing ?? impliedSlicing(element)
  const places: (readonly ElementRule[])[] = []
  for (const node of element.nodes) {
    run.step()
    places.push(placesOf(run, node, { group, others, slicing }))
    yield
  }
  for (const slice of group.slices) {
    const nodes = element.nodes.filter((_, index) => places[index]?.includes(slice))
    checkSize(run, element.parent, { slice, size: nodes.length })
    for (const node of nodes) addTo(assigned, node, slice)
    if (slice.slices.length > 0)
      reportOutside(run, nodes, [yield* assignGroup(run, { ...element, nodes }, { group: slice, rules: [slice], assigned })])
  }
  for (const [index, node] of element.nodes.entries()) reportSeveral(run, node, places[index] ?? [])
  checkOrder(run, element.nodes, { group, slicing, places })
  return { group, slicing, places }
}

/** What may be in a slice for all that is known here is not missed. */
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

interface Candidates {
  readonly group: ElementRule
  /** Rules for the same element from profiles on which this one builds, or on the type: their slices of the same name are the same slices. */
  readonly others: readonly ElementRule[]
  readonly slicing: SlicingRule
}

function placesOf(run: Run, node: FhirNode, { group, others, slicing }: Candidates): readonly ElementRule[] {
  return group.slices.filter((slice) => {
    const same = others.flatMap((rule) => rule.slices.filter(({ sliceName }) => sliceName === slice.sliceName))
    if (isByUrl(slicing, node)) return urlOfSlice([slice, ...same]) === urlOf(node)
    return isInSlice(run, node, { slice, same, discriminators: slicing.discriminators })
  })
}

function urlOfSlice(slices: readonly ElementRule[]): string | undefined {
  return slices.map(extensionUrl).find((url) => url !== undefined)
}

function isByUrl({ discriminators: [only, second] }: SlicingRule, node: FhirNode): boolean {
  return node.type.name === 'Extension' && only?.path === 'url' && second === undefined
}

function urlOf({ value }: FhirNode): unknown {
  return typeof value === 'object' && value !== null && 'url' in value ? value.url : undefined
}
