import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject, objectAt } from '../../../json/index.js'
import { defineFinding, type FindingDefinition, INVARIANT } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { EXTERNAL } from '../codes/unknown-system.js'
import {
  checkConcepts,
  CODE_SYSTEM_CODE,
  CODE_SYSTEM_DESIGNATION,
  CODE_SYSTEM_SUPPLEMENT,
  CODE_SYSTEM_INCOMPLETE,
  checkMeaning,
  isOfHl7,
} from './code-system-concepts.js'
import { CODE_SYSTEM_PROPERTY, propertiesOf } from './code-system-properties.js'

const CODE_SYSTEM_CONTENT: FindingDefinition = defineFinding(
  'code-system-content',
  'error',
  'business-rule',
  'Make content and supplements agree.',
)
const CODE_SYSTEM_EMPTY: FindingDefinition = defineFinding(
  'code-system-empty',
  'warning',
  'business-rule',
  'Add the concepts, or state another content than complete.',
)
const CODE_SYSTEM_COUNT: FindingDefinition = defineFinding('code-system-count', 'error', 'invalid', 'Correct the count.')
const CODE_SYSTEM_CONTAINED: FindingDefinition = defineFinding(
  'code-system-contained',
  'information',
  'business-rule',
  'Publish the code system by itself: codings refer to it by its url, which leads to no contained resource.',
)

/** A `CodeSystem.valueSet` that is not exactly all codes. */
const CODE_SYSTEM_VALUE_SET: FindingDefinition = defineFinding(
  'code-system-value-set',
  'error',
  'business-rule',
  'Let valueSet be a value set that includes the whole code system and nothing else.',
)

/** CodeSystems. */
export const codeSystemRule: ResourceRule = {
  on: ['CodeSystem'],
  finds: [
    CODE_SYSTEM_CONTENT,
    CODE_SYSTEM_EMPTY,
    CODE_SYSTEM_COUNT,
    CODE_SYSTEM_CONTAINED,
    CODE_SYSTEM_VALUE_SET,
    CODE_SYSTEM_PROPERTY,
    CODE_SYSTEM_CODE,
    CODE_SYSTEM_DESIGNATION,
    CODE_SYSTEM_SUPPLEMENT,
    CODE_SYSTEM_INCOMPLETE,
    INVARIANT,
  ],
  check: checkCodeSystem,
}

/** Checks a CodeSystem: its count is right, supplements are marked, and it states what users of its codes need to know. */
async function checkCodeSystem(run: Run, node: FhirNode): Promise<void> {
  if (!isObject(node.value)) return
  const system = node.value
  const base = supplementedBy(run, node)
  checkContent(run, node, system)
  const concepts: JsonObject[] = []
  await collectConcepts(run, system, concepts)
  checkCount(run, node, { system, found: concepts.length, base })
  checkUnique(run, node, concepts)
  checkAllCodes(run, node, { count: concepts.length, base })
  if (system['supplements'] === undefined) checkMeaning(run, node, system)
  else checkSupplement(run, node, base)
  checkContained(run, node)
  const codes = new Set(concepts.flatMap((concept) => stringAt(concept, 'code') ?? []))
  await checkConcepts(run, node, { properties: propertiesOf(run, node), codes, base, isOfHl7: isOfHl7(system) })
}

/** The code system that a supplement is for; `undefined` when it is not known. */
function supplementedBy(run: Run, node: FhirNode): JsonObject | undefined {
  const canonical = textOf(node, 'supplements')
  const found = canonical === undefined ? undefined : run.definitions.definition('CodeSystem', canonical)
  return found === PENDING ? undefined : found
}

function checkContent(run: Run, node: FhirNode, system: JsonObject): void {
  const content = stringAt(system, 'content')
  const isSupplement = system['supplements'] !== undefined
  const [concept] = content === 'not-present' ? childrenOf(run, node, 'concept') : []
  if (concept !== undefined)
    run.findings.report(CODE_SYSTEM_CONTENT, concept, {
      text: 'The content is not-present, but there are concepts.',
      code: 'invalid',
    })
  if (content === undefined || isSupplement === (content === 'supplement')) return
  if (isSupplement) {
    const text = `A CodeSystem that supplements another must have the content 'supplement', not ${quoted(content)}.`
    run.findings.report(CODE_SYSTEM_CONTENT, node, { text, at: 'content' })
    return
  }
  const text = 'A CodeSystem with the content supplement must state what it supplements.'
  for (const place of [{ at: 'content' }, {}]) run.findings.report(CODE_SYSTEM_CONTENT, node, { text, ...place })
}

/** Collects the concepts of all levels. */
async function collectConcepts(run: Run, holder: JsonObject, into: JsonObject[]): Promise<void> {
  for (const concept of objectsAt(holder, 'concept')) {
    into.push(concept)
    await run.scheduler.turn()
    await collectConcepts(run, concept, into)
  }
}

/** Checks csd-1. */
function checkUnique(run: Run, node: FhirNode, concepts: readonly JsonObject[]): void {
  const codes = concepts.flatMap((concept) => stringAt(concept, 'code') ?? [])
  if (new Set(codes).size < codes.length)
    run.findings.report(INVARIANT, node, { text: 'csd-1: Within a code system definition, all the codes SHALL be unique' })
}

interface Counted {
  readonly system: JsonObject
  readonly found: number
  readonly base: JsonObject | undefined
}

function checkCount(run: Run, node: FhirNode, { system, found, base }: Counted): void {
  const content = stringAt(system, 'content') ?? ''
  if (content === 'complete' && found === 0)
    run.findings.report(CODE_SYSTEM_EMPTY, node, { text: 'The content is complete, but there are no concepts.' })
  const stated = system['count']
  if (typeof stated !== 'number') return
  const [concept] = childrenOf(run, node, 'concept')
  if (content === 'not-present' && stated === 0 && concept !== undefined)
    run.findings.report(CODE_SYSTEM_COUNT, concept, {
      text: 'The count is 0, but there are concepts, although the content is not-present.',
      severity: 'information',
    })
  const problem = countProblem(content, { stated, found, base })
  if (problem !== undefined) run.findings.report(CODE_SYSTEM_COUNT, node, { ...problem, at: 'count' })
}

interface Counts {
  readonly stated: number
  readonly found: number
  readonly base: JsonObject | undefined
}

function countProblem(content: string, { stated, found, base }: Counts): { text: string; severity?: 'warning' } | undefined {
  if (content === 'complete' && stated !== found)
    return { text: `The count is ${stated}, but the complete code system has ${found} concepts.` }
  if ((content === 'fragment' || content === 'example') && found >= stated)
    return { text: `The count is ${stated}, but there are ${found} concepts, although the content is not complete.`, severity: 'warning' }
  const total = base?.['count']
  return content === 'supplement' && typeof total === 'number' && total !== stated
    ? { text: `The count of the supplement is ${stated}, but that of the code system that it supplements is ${total}.` }
    : undefined
}

interface AllCodes {
  /** Number of concepts. */
  readonly count: number
  readonly base: JsonObject | undefined
}

/** Checks the value set of all codes: only a complete code system has one, and it includes the whole code system and nothing else. */
function checkAllCodes(run: Run, node: FhirNode, { count, base }: AllCodes): void {
  const canonical = textOf(node, 'valueSet')
  if (canonical === undefined) return
  const say = (text: string, severity?: 'warning' | 'information'): void =>
    run.findings.report(CODE_SYSTEM_VALUE_SET, node, { text, ...(severity !== undefined && { severity }) })
  const content = textOf(node, 'content')
  if (content === 'supplement' && base !== undefined) {
    const own = stringAt(base, 'valueSet')
    if (own !== canonical)
      say(
        `A supplement has no value set of all codes but that of its code system, ${own === undefined ? 'which has none' : own}.`,
        'warning',
      )
  } else if (content !== 'complete')
    say(
      'A code system that is not complete should have no value set of all its codes.',
      content === 'supplement' ? 'warning' : 'information',
    )
  const valueSet = run.definitions.definition('ValueSet', canonical)
  if (valueSet === undefined || valueSet === PENDING) return
  const problem = allCodesProblem(valueSet, textOf(node, 'url'), count)
  if (problem !== undefined) say(`The value set of all codes ${quoted(canonical)} ${problem}.`)
}

/** Checks that a supplement does not state `caseSensitive` or another hierarchy meaning, which come from the supplemented code system. */
function checkSupplement(run: Run, node: FhirNode, base: JsonObject | undefined): void {
  if (textOf(node, 'caseSensitive') !== undefined || (isObject(node.value) && node.value['caseSensitive'] !== undefined))
    run.findings.report(CODE_SYSTEM_CONTENT, node, { text: 'A supplement must not have caseSensitive.', at: 'caseSensitive' })
  const own = textOf(node, 'hierarchyMeaning')
  const meaning = stringAt(base, 'hierarchyMeaning')
  if (own !== undefined && meaning !== undefined && own !== meaning)
    run.findings.report(CODE_SYSTEM_CONTENT, node, {
      text: `The hierarchyMeaning ${quoted(own)} is not that of the supplemented code system, ${quoted(meaning)}.`,
    })
  const canonical = textOf(node, 'supplements') ?? ''
  if (base !== undefined || EXTERNAL.has(canonical) || childrenOf(run, node, 'concept').length === 0) return
  if (isHere(run, canonical)) return
  run.findings.report(CODE_SYSTEM_SUPPLEMENT, node, {
    text: `The code system ${quoted(canonical)} could not be found, so the concepts of the supplement are not checked.`,
    severity: 'warning',
  })
}

/** Whether a code system is, or may be, available in the version that is named. */
function isHere(run: Run, canonical: string): boolean {
  const version = canonical.split('|', 2)[1]
  const family = run.definitions.codeSystem(canonical)
  if (family === PENDING) return true
  return !family.unknown && (version === undefined || family.versions.includes(version) || family.provider(version) !== undefined)
}

/** Reports a code system that is contained in a Questionnaire or CodeSystem, which cannot refer to it. */
function checkContained(run: Run, node: FhirNode): void {
  const holder = node.slot?.name === 'contained' ? node.parent?.type.name : undefined
  if (holder === 'Questionnaire' || holder === 'CodeSystem')
    run.findings.report(CODE_SYSTEM_CONTAINED, node, {
      text: 'Codings refer to code systems by url, so a code system should not be contained.',
    })
}

/**
 * Why a ValueSet is not the value set of all codes of a code system, to follow its name; `undefined` when it is.
 *
 * @param count Number of concepts of the code system.
 */
function allCodesProblem(valueSet: JsonObject, url: string | undefined, count: number): string | undefined {
  const [include, ...others] = objectsAt(objectAt(valueSet, 'compose'), 'include')
  if (include === undefined || others.length > 0) return 'does not have a single include'
  if (stringAt(include, 'system') !== url) return `includes another code system, ${stringAt(include, 'system') ?? 'none'}`
  if (['valueSet', 'concept', 'filter'].some((name) => include[name] !== undefined)) return 'does not include the whole code system'
  const expansion = objectAt(valueSet, 'expansion')
  const listed = codesIn(expansion)
  return expansion === undefined || listed === count ? undefined : `has an expansion of ${listed} codes, but there are ${count}`
}

/** Number of codes in an expansion, which may be hierarchical and then has a code under each of its parents. */
function codesIn(expansion: JsonObject | undefined): number {
  const contained = [...objectsAt(expansion, 'contains')]
  for (const one of contained) for (const inner of objectsAt(one, 'contains')) contained.push(inner)
  return new Set(contained.flatMap((one) => stringAt(one, 'code') ?? [])).size
}
