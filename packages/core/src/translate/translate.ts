import { createPace, explained, forRequest, type OperationContext, type Pace } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput } from '../input/index.js'
import { isOfVersion, unusableElement } from '../terminology/index.js'
import { sourceCodes, TRANSLATE_INPUT, type SourceCode, type TranslateInput, type TranslateOptions } from './input.js'
import { mapIndex, shownMap, type Direction, type MapIndex, type Mapping, NO_TRANSLATION } from './map-index.js'
import { dependenciesMet, factsOf, mappingMatch, unmappedRule, type Facts } from './mapping.js'
import { currentMap, mapsFor } from './maps.js'
import type { TranslateMatch, TranslateResult } from './result.js'
import { explainGroup, explainPassedCodes, mapStep, passedGroupStep, unmappedStep, type AskedGroup } from './translation-steps.js'

const MAX_LISTED = 3

/**
 * Translates a code, or each coding of a CodeableConcept, with one ConceptMap or with every map from a value set.
 *
 * @returns All matches. A code without a match is not an error.
 * @throws {OperationError} `source-ambiguous`, `parameter-required`, `parameter-invalid`; `not-found` for an unknown map;
 *   `definition-not-found`, `definition-invalid`, `too-costly` for a map whose `unmapped` cannot be followed; `definition-invalid` for a malformed map;
 *   `not-supported` for one with modifier extensions or implicit rules.
 * @see https://hl7.org/fhir/R4/conceptmap-operation-translate.html
 */
export function translate(ctx: OperationContext, input: TranslateInput): Promise<TranslateResult> {
  return explained(ctx, input, (own) => translated(own, input))
}

async function translated(ctx: OperationContext, input: TranslateInput): Promise<TranslateResult> {
  checkInput(ctx, input, TRANSLATE_INPUT)
  ctx.authorize?.('read', 'ConceptMap', input.mapId)
  const codes = sourceCodes(input)
  const resources = [...(input.conceptMap === undefined ? [] : [input.conceptMap]), ...(input.resources ?? [])]
  const own = resources.length === 0 ? ctx : forRequest(ctx, { resources })
  const maps = await mapsFor(own, input)
  for (const map of maps) ctx.explain?.step(mapStep(map, input))
  const facts = factsOf(input.dependencies ?? [])
  const walk: Walk = { ctx: own, pace: createPace(own), input, facts, matches: [], seen: new Map(), others: new Map() }
  for (const map of maps) await walkMap(walk, map, { codes, depth: 1 })
  const { matches } = walk
  const result = matches.some(({ equivalence }) => !NO_TRANSLATION.has(equivalence))
  return { result, ...(!result && { message: noTranslationText(codes, maps, input.targetSystem) }), matches }
}

function noTranslationText(codes: readonly SourceCode[], maps: readonly MapIndex[], targetSystem: string | undefined): string {
  const what = listed(codes.map(({ system, code }) => `${quoted(code)} of ${quoted(system)}`))
  const where = listed(maps.map(shownMap))
  const into = targetSystem === undefined ? '' : ` into ${quoted(targetSystem)}`
  return `No translation of ${what}${into} was found in ${where}.`
}

function listed(texts: readonly string[]): string {
  const more = texts.length - MAX_LISTED
  const first = texts.slice(0, MAX_LISTED).join(', ')
  return more > 0 ? `${first} and ${more} more` : first
}

/** State of a translation: the request, the matches so far, and which codes were looked up in which map. */
interface Walk {
  readonly ctx: OperationContext
  readonly pace: Pace
  readonly input: TranslateOptions
  readonly facts: Facts
  readonly matches: TranslateMatch[]
  /** Codes by map, so that a map that is reached on several paths, or in a cycle, is used once per code. */
  readonly seen: Map<string | MapIndex, Set<SourceCode>>
  /** Maps reached through `unmapped`, by canonical; a map that came with the request is in no other cache. */
  readonly others: Map<string, MapIndex>
}

/** One visit of a map. */
interface Visit {
  /** The codes to look up. */
  readonly codes: readonly SourceCode[]
  /** Number of maps on the `unmapped` chain, this one included. */
  readonly depth: number
}

/**
 * Looks up codes in a map, in the order of groups, codes and targets. Codes that a group does not map are handled by its `unmapped`.
 *
 * @throws {OperationError} `too-costly` for a chain of more than `limits.maxMapChain` maps; `definition-not-found` when a map on the
 *   chain does not exist; `definition-invalid` for an `unmapped` that cannot be followed, and for a malformed map.
 */
async function walkMap(walk: Walk, map: MapIndex, { codes, depth }: Visit): Promise<void> {
  walk.pace.check()
  refuseMalformed(map)
  const { reverse = false, targetSystem } = walk.input
  const ofSystem = bySystem(unseen(walk, map, codes))
  for (const group of map.groups) {
    const direction = reverse ? group.backward : group.forward
    const isPassed = targetSystem !== undefined && direction.to !== targetSystem
    const asked = { map, group, direction, isPassed }
    if (isPassed) walk.ctx.explain?.step(passedGroupStep(asked, 'other-target'))
    // The other map may translate into the requested system.
    if (isPassed && (reverse || group.unmapped?.['mode'] !== 'other-map')) continue
    const rest = await walkGroup(walk, asked, ofSystem(direction.from))
    if (!reverse && rest.length > 0) await walkUnmapped(walk, asked, { codes: rest, depth })
  }
}

function refuseMalformed(map: MapIndex): void {
  if (map.malformed !== undefined) throw unusableElement(shownMap(map), map.malformed)
}

/** Returns a function that finds the codes of a system; all codes for a group without a source system. */
function bySystem(codes: readonly SourceCode[]): (system: string | undefined) => readonly SourceCode[] {
  const groups = Map.groupBy(codes, ({ system }) => system)
  return (system) => (system === undefined ? codes : (groups.get(system) ?? []))
}

/** A group. It has no matches where it translates into another system than the requested one. */
interface WalkedGroup extends AskedGroup {
  readonly isPassed: boolean
}

/** Adds the matches of a group. @returns The codes that it does not map. */
async function walkGroup(walk: Walk, group: WalkedGroup, codes: readonly SourceCode[]): Promise<readonly SourceCode[]> {
  const { map, direction, isPassed } = group
  const explain = isPassed ? undefined : walk.ctx.explain
  const asked = codes.filter((code) => fitsVersion(code, direction))
  if (explain !== undefined) explainPassedCodes(explain, group, { codes, asked })
  if (asked.length > 0 && direction.build !== undefined) await walk.pace.run(direction.build())
  const rest: SourceCode[] = []
  await walk.pace.step()
  for (const code of asked) {
    await walk.pace.step()
    const found = direction.find(code.code)
    const mappings = found.filter(({ target }) => applies(walk, target))
    if (explain !== undefined) await explainGroup(explain, walk.pace, { ...group, code, found, applied: mappings })
    for (const mapping of isPassed ? [] : mappings) {
      walk.matches.push(mappingMatch(map, code, { mapping, direction, reverse: walk.input.reverse === true }))
      const wait = walk.pace.step()
      if (wait !== undefined) await wait
    }
    if (mappings.length === 0) rest.push(code)
  }
  return rest
}

function fitsVersion({ version }: SourceCode, { fromVersion }: Direction): boolean {
  return version === undefined || fromVersion === undefined || isOfVersion(fromVersion, version) || isOfVersion(version, fromVersion)
}

function unseen(walk: Walk, map: MapIndex, codes: readonly SourceCode[]): readonly SourceCode[] {
  const key = map.canonical ?? map
  const seen = walk.seen.get(key) ?? new Set()
  walk.seen.set(key, seen)
  return codes.filter((code) => !seen.has(code) && seen.add(code))
}

/** In reverse, every code that may be mapped is a match: conditions are tested only when the request has dependencies. */
function applies({ input, facts }: Walk, target: Mapping['target']): boolean {
  return (input.reverse === true && facts.size === 0) || dependenciesMet(target, facts)
}

/** Handles codes that a group does not map, by its `unmapped`. */
async function walkUnmapped(walk: Walk, asked: AskedGroup, { codes, depth }: Visit): Promise<void> {
  const { map, group } = asked
  const known = codes.filter(({ system }) => system === group.forward.from)
  if (group.unmapped === undefined || known.length === 0) return
  const rule = unmappedRule(group.unmapped, map)
  for (const code of known) walk.ctx.explain?.step(unmappedStep(asked, { code, rule }))
  if (rule.mode !== 'other-map') {
    for (const from of known) {
      const mapping = { element: {}, target: { code: from.code, ...rule.target } }
      walk.matches.push(mappingMatch(map, from, { mapping, direction: group.forward, reverse: false }))
    }
    return
  }
  if (depth >= walk.ctx.limits.maxMapChain) {
    throw new OperationError('too-costly', `More than ${walk.ctx.limits.maxMapChain} maps are chained by 'unmapped'.`)
  }
  await walkMap(walk, map.contained.get(rule.url) ?? (await otherMap(walk, rule.url)), { codes: known, depth: depth + 1 })
}

async function otherMap(walk: Walk, canonical: string): Promise<MapIndex> {
  const known = walk.others.get(canonical)
  if (known !== undefined) return known
  const definition = await currentMap(walk.ctx, canonical)
  if (definition === undefined) {
    throw new OperationError('definition-not-found', `ConceptMap ${quoted(canonical)} of 'unmapped' does not exist.`)
  }
  const index = await mapIndex(walk.ctx, definition)
  walk.others.set(canonical, index)
  return index
}
