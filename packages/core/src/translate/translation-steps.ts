import { quoted } from '../errors/index.js'
import type { Explain, ExplanationStep } from '../explain/index.js'
import { stringAt } from '../json/index.js'
import { MOST_NEAREST, nearestOf } from '../terminology/index.js'
import type { Pace } from '../context/index.js'
import type { Direction, GroupIndex, MapIndex, Mapping } from './map-index.js'
import type { UnmappedRule } from './mapping.js'
import type { TranslateOptions, SourceCode } from './input.js'

/** A group of a map, and the direction in which it is searched. */
export interface AskedGroup {
  readonly map: MapIndex
  readonly group: GroupIndex
  readonly direction: Direction
}

/** The mappings of a code in a group, and which of them apply. */
interface GroupAnswer extends AskedGroup {
  readonly code: SourceCode
  readonly found: readonly Mapping[]
  readonly applied: readonly Mapping[]
}

/** Explains which map is used, and why. */
export function mapStep(map: MapIndex, input: TranslateOptions): ExplanationStep {
  const isNamed = namesVersion(input)
  const because = isNamed ? 'the request names it' : foundBy(input)
  return {
    kind: 'concept-map',
    outcome: 'chosen',
    reason: isNamed ? 'request' : 'newest',
    ...definitionOf(map),
    text: `The map ${quoted(map.canonical ?? '(unidentified)')} was used: ${because}.`,
  }
}

function namesVersion({ url, mapId, conceptMap, mapVersion }: TranslateOptions): boolean {
  return mapId !== undefined || conceptMap !== undefined || mapVersion !== undefined || url?.includes('|') === true
}

function foundBy({ url, source, target }: TranslateOptions): string {
  const sets = url === undefined && source !== undefined ? [source, ...(target === undefined ? [] : [target])] : []
  return `it is the newest that is not retired${sets.length > 0 ? ` for ${sets.map(quoted).join(' and ')}` : ''}`
}

/** Records why a group is not searched for any code, or not for some codes. */
export function explainPassedCodes(explain: Explain, passed: AskedGroup, { codes, asked }: PassedCodes): void {
  if (codes.length === 0) explain.step(passedGroupStep(passed, 'other-system'))
  const kept = new Set(asked)
  for (const code of codes) if (!kept.has(code)) explain.step(passedGroupStep(passed, 'other-version', code))
}

interface PassedCodes {
  /** Codes of the system that the group translates from. */
  readonly codes: readonly SourceCode[]
  /** Codes that also match its version. */
  readonly asked: readonly SourceCode[]
}

/** Explains why a group is not searched for any code, or not for this one. */
export function passedGroupStep(
  passed: AskedGroup,
  reason: 'other-system' | 'other-target' | 'other-version',
  code?: SourceCode,
): ExplanationStep {
  const { from = '', fromVersion = '', to = '' } = passed.direction
  const says = {
    'other-system': `translates codes of ${quoted(from)}`,
    'other-target': `translates into ${quoted(to)}`,
    'other-version': `translates codes of version ${quoted(fromVersion)}`,
  } as const
  return {
    kind: 'group',
    outcome: 'fails',
    reason,
    ...locationOf(passed),
    ...(code !== undefined && { coding: code }),
    text: `The group ${says[reason]} only.`,
  }
}

/** Records the mappings of a code in a group; for a code without mapping, similarly written codes. */
export async function explainGroup(explain: Explain, pace: Pace, { code, found, applied, ...asked }: GroupAnswer): Promise<void> {
  const kept = new Set(applied)
  for (const mapping of found) explain.step(mappingStep(asked, mapping, { code, applies: kept.has(mapping) }))
  if (found.length > 0) return
  explain.step({
    kind: 'group',
    outcome: 'fails',
    reason: 'not-mapped',
    ...locationOf(asked),
    coding: code,
    text: `The group does not map ${quoted(code.code)}.`,
  })
  if (!explain.wantsNearest()) return
  const candidates = Iterator.from(asked.direction.codes()).map((text) => ({ text, item: text }))
  const near = await nearestOf(pace, code.code, candidates)
  explain.nearest(
    near.slice(0, MOST_NEAREST).map(({ item, distance }) => ({ coding: { system: code.system, code: item }, distance, by: 'code' })),
  )
}

/** Explains how a group handles a code that it does not map. */
export function unmappedStep(
  { map, group }: AskedGroup,
  { code, rule }: { readonly code: SourceCode; readonly rule: UnmappedRule },
): ExplanationStep {
  return {
    kind: 'unmapped',
    outcome: 'chosen',
    reason: 'not-mapped',
    ...definitionOf(map),
    path: `${group.path}.unmapped`,
    coding: code,
    text: `For ${quoted(code.code)}, which it does not map, the group ${handling(rule)} (mode ${rule.mode}).`,
  }
}

function handling(rule: UnmappedRule): string {
  if (rule.mode === 'other-map') return `asks the map ${quoted(rule.url)}`
  const { code } = rule.target
  return code === undefined ? 'keeps the code' : `gives ${quoted(code)}`
}

interface AskedMapping {
  readonly code: SourceCode
  readonly applies: boolean
}

function mappingStep({ map, group }: AskedGroup, { element, target }: Mapping, { code, applies }: AskedMapping): ExplanationStep {
  const [from, to] = [stringAt(element, 'code') ?? '', stringAt(target, 'code')]
  const into = to === undefined ? 'nothing' : quoted(to)
  return {
    kind: 'element',
    outcome: applies ? 'holds' : 'fails',
    ...(!applies && { reason: 'depends-on' as const }),
    ...definitionOf(map),
    path: `${group.path}.element.where(code = ${quoted(from)})`,
    coding: code,
    text: `The map takes ${quoted(from)} to ${into} (${stringAt(target, 'equivalence') ?? 'no equivalence'})${applies ? '' : ', whose conditions are not met'}.`,
  }
}

function locationOf({ map, group }: AskedGroup): { readonly definition?: string; readonly path: string } {
  return { ...definitionOf(map), path: group.path }
}

function definitionOf({ canonical }: MapIndex): { readonly definition?: string } {
  return canonical === undefined ? {} : { definition: canonical }
}
