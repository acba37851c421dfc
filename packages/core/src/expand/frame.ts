import { formatCanonical } from '../content/index.js'
import {
  CONCEPT_PROPERTIES,
  standIns,
  type CodeSystemProvider,
  type Members,
  type Segment,
  type UsedDefinitions,
  type VersionRules,
} from '../terminology/index.js'
import { EXTENSION_PROPERTIES } from './entry.js'
import type { ExpandInput } from './input.js'
import type { EntryProperty, ExpandResult, ExpansionEntry, ExpansionParameter } from './result.js'
import type { Selection } from './selection.js'

/** An expansion without its codes. */
export type ExpansionFrame = Omit<ExpandResult, 'contains' | 'explanation'>

/**
 * Creates everything in the result except the codes.
 *
 * @param properties Properties that the expansion declares.
 */
export function frameOf(selection: Selection, properties: ExpandResult['properties']): ExpansionFrame {
  const { scope, input, plan, members, segments, total } = selection
  // What engines work with of its parts is no data: a result with that could not be sent to another thread.
  const { includes: _includes, excludes: _excludes, ...valueSet } = plan.valueSet
  return {
    valueSet,
    ...(input.includeDefinition === true && { withDefinition: true }),
    identifier: `urn:uuid:${scope.ctx.newId()}`,
    timestamp: scope.ctx.now().toISOString(),
    ...(standIns(segments).length === 0 && { total }),
    offset: input.offset ?? 0,
    parameters: reportedParameters(selection),
    unclosed: unclosedReasons(members, input),
    properties,
  }
}

/**
 * Returns the properties that the expansion declares: those of its entries, and requested ones that a code system declares.
 *
 * @param properties Properties of the entries.
 */
export function declaredProperties({ members, style }: Selection, properties: Iterable<EntryProperty>): ExpandResult['properties'] {
  const found = new Map<string, string | undefined>()
  for (const { code, uri: stated } of properties) if (!found.has(code)) found.set(code, stated)
  for (const code of style.properties) {
    const header = headerWith(members, code)
    if (header !== undefined && !found.has(code)) found.set(code, header.properties.get(code))
  }
  return declarations(found)
}

/** Iterates over the properties of entries at all levels; without recursion, because hierarchies can be deeper than the call stack. */
export function* propertiesIn(entries: readonly ExpansionEntry[]): Generator<EntryProperty> {
  const lists = [entries]
  for (const list of lists) {
    for (const { properties, contains } of list) {
      yield* properties
      if (contains.length > 0) lists.push(contains)
    }
  }
}

/** Returns the properties that entries of a stream may have: those requested, the status, and those that result from extensions. */
export function possibleProperties({ members, style }: Selection): ExpandResult['properties'] {
  const found = new Map<string, string | undefined>()
  for (const code of style.properties) found.set(code, headerWith(members, code)?.properties.get(code) ?? standardUri(code))
  found.set('status', standardUri('status'))
  for (const [code, stated] of Object.entries(EXTENSION_PROPERTIES)) if (!found.has(code)) found.set(code, stated)
  return declarations(found)
}

/** Properties that entries may have even if no code system declares them. */
const STANDARD: readonly string[] = ['status', 'definition', 'parent', 'child']

function standardUri(code: string): string | undefined {
  return STANDARD.includes(code) ? `${CONCEPT_PROPERTIES}#${code}` : undefined
}

function headerWith({ systems }: Members, code: string): CodeSystemProvider['header'] | undefined {
  return systems.find(({ provider }) => provider?.header.properties.has(code))?.provider?.header
}

function declarations(found: ReadonlyMap<string, string | undefined>): ExpandResult['properties'] {
  return Array.from(found, ([code, stated]) => ({ code, ...(stated !== undefined && { uri: stated }) }))
}

/** Returns the parameters of an expansion: those of the request, then the definitions used. */
function reportedParameters({ input, members, used, style }: Selection): readonly ExpansionParameter[] {
  const displayLanguage = style.languages?.text
  return [
    ...statedParameters(input),
    ...(displayLanguage === undefined ? [] : [{ name: 'displayLanguage', type: 'Code', value: displayLanguage } as const]),
    ...(input.designations ?? []).map((value) => ({ name: 'designation', type: 'String', value }) as const),
    ...(input.excludeSystems ?? []).map((system) => uri('exclude-system', system)),
    ...(input.rules === undefined ? [] : [...valueSetRules(input.rules), ...versionRules(members, input.rules)]),
    ...usedParameters(used, members),
  ]
}

const STATED = [
  ['activeOnly', 'Boolean'],
  ['excludeNotForUI', 'Boolean'],
  ['count', 'Integer'],
  ['offset', 'Integer'],
  ['excludeNested', 'Boolean'],
  ['excludePostCoordinated', 'Boolean'],
  ['includeDesignations', 'Boolean'],
  ['includeDefinition', 'Boolean'],
  ['filter', 'String'],
] as const

/** Returns the options of the request that are parameters with the same name. */
function statedParameters(input: ExpandInput): readonly ExpansionParameter[] {
  return STATED.flatMap(([name, type]) => {
    const value = input[name]
    return value === undefined ? [] : [{ name, type, value }]
  })
}

const VALUE_SET_RULES = [
  ['valueSets', 'default-valueset-version'],
  ['forcedValueSets', 'force-valueset-version'],
  ['checkedValueSets', 'check-valueset-version'],
] as const

/** Returns the version rules of the request for imported value sets. */
function valueSetRules(rules: VersionRules): readonly ExpansionParameter[] {
  return VALUE_SET_RULES.flatMap(([kind, name]) =>
    Array.from(rules[kind] ?? [], ([url, version]) => uri(name, formatCanonical(url, version))),
  )
}

const RULES = [
  ['force', 'force-system-version'],
  ['check', 'check-system-version'],
  ['fallback', 'system-version'],
] as const

/** Returns the version rules that decided the version of an include. */
function versionRules({ systems }: Members, rules: VersionRules): readonly ExpansionParameter[] {
  const stated = RULES.filter(([origin]) => (rules[origin]?.size ?? 0) > 0)
  return stated.flatMap(([origin, name]) => {
    const urls = new Set(systems.filter((choice) => choice.origin === origin).map((choice) => choice.family.url))
    return Array.from(urls, (url) => uri(name, formatCanonical(url, rules[origin]?.get(url))))
  })
}

function usedParameters(used: UsedDefinitions, { merged }: Members): readonly ExpansionParameter[] {
  return [
    ...used.systems.map((canonical) => uri('used-codesystem', canonical)),
    ...used.valueSets.map((canonical) => uri('used-valueset', canonical)),
    ...used.supplements.map((canonical) => uri('used-supplement', canonical)),
    ...used.fragments.map((canonical) => uri('used-fragment', canonical)),
    ...used.notes.map(({ status, canonical }) => uri(`warning-${status}`, canonical)),
    ...(merged ? [{ name: 'versionsMatch', type: 'Boolean', value: true } as const] : []),
  ]
}

function unclosedReasons(members: Members, { excludePostCoordinated }: ExpandInput): readonly (string | undefined)[] {
  const fragments = members.systems.flatMap(({ provider }) =>
    provider === undefined || provider.header.complete ? [] : [provider.header.url],
  )
  const reasons = Array.from(new Set(fragments), (url) => `This extension is based on a fragment of the code system ${url}`)
  const open = members.segments.filter(({ provider }) => excludePostCoordinated !== true || provider.grammar?.mayExtend === undefined)
  return [...reasons, ...new Set(open.flatMap(unclosedReason))]
}

function unclosedReason({ provider, formed, extensible }: Segment): readonly (string | undefined)[] {
  if (formed === undefined) return extensible === true ? [undefined] : []
  const standIn = provider.grammar?.common?.url
  if (formed === 'some' && standIn === undefined) return [undefined]
  const reason = `The code System '${provider.header.url}' has a grammar and so has infinite members`
  return [standIn === undefined ? reason : `${reason}. This extension is based on ${standIn}`]
}

function uri(name: string, value: string): ExpansionParameter {
  return { name, type: 'Uri', value }
}
