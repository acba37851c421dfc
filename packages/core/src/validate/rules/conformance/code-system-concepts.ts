import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import type { CodeSystemProvider } from '../../../terminology/index.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'
import { conceptsOf, CODE_SYSTEM_PROPERTY, type DeclaredProperty } from './code-system-properties.js'

/** A code that is defined twice, or a property that names a code that does not exist. */
export const CODE_SYSTEM_CODE: FindingDefinition = defineFinding(
  'code-system-code',
  'error',
  'invalid',
  'Define each code once, and let properties name codes that exist.',
)
/** A text that is not distinguished from the display. */
export const CODE_SYSTEM_DESIGNATION: FindingDefinition = defineFinding(
  'code-system-designation',
  'warning',
  'business-rule',
  'Give the designation a use, or a language of its own.',
)
/** A supplement for codes that its code system does not define. */
export const CODE_SYSTEM_SUPPLEMENT: FindingDefinition = defineFinding(
  'code-system-supplement',
  'error',
  'business-rule',
  'Supplement only codes that are defined in the code system.',
)

/** The data for checking the concepts of a CodeSystem. */
interface ConceptRules {
  readonly properties: ReadonlyMap<string, DeclaredProperty>
  /** All codes of the code system. */
  readonly codes: ReadonlySet<string>
  /** The supplemented code system. */
  readonly base: JsonObject | undefined
  readonly isOfHl7: boolean
}

interface ConceptCheck extends ConceptRules {
  readonly run: Run
  readonly system: FhirNode
  /** The supplemented code system, if all its content is available. */
  readonly supplemented: CodeSystemProvider | undefined
  /** Displays of the supplemented code system, when both are in one language; by code. */
  readonly displays: ReadonlyMap<string, string>
  readonly seen: Set<string>
  /** Keys of findings that are reported only once. */
  readonly said: Set<string>
}

/** Checks the concepts of a CodeSystem: codes, designations and properties, and that the supplemented code system has the codes of a supplement. */
export async function checkConcepts(run: Run, system: FhirNode, rules: ConceptRules): Promise<void> {
  const check = {
    ...rules,
    run,
    system,
    supplemented: supplementedBy(run, system),
    displays: displaysOf(system, rules.base),
    seen: new Set<string>(),
    said: new Set<string>(),
  }
  await checkLevel(check, system)
}

function supplementedBy(run: Run, system: FhirNode): CodeSystemProvider | undefined {
  const canonical = textOf(system, 'supplements')
  const family = canonical === undefined ? PENDING : run.definitions.codeSystem(canonical)
  const provider = family === PENDING ? undefined : family.provider(canonical?.split('|', 2)[1])
  return provider?.header.complete === true ? provider : undefined
}

function displaysOf(system: FhirNode, base: JsonObject | undefined): ReadonlyMap<string, string> {
  const displays = new Map<string, string>()
  if (base === undefined || textOf(system, 'content') !== 'supplement' || textOf(system, 'language') !== stringAt(base, 'language'))
    return displays
  for (const concept of conceptsOf(base)) {
    const [code, display] = [stringAt(concept, 'code'), stringAt(concept, 'display')]
    if (code !== undefined && display !== undefined) displays.set(code, display)
  }
  return displays
}

async function checkLevel(check: ConceptCheck, holder: FhirNode): Promise<void> {
  for (const concept of childrenOf(check.run, holder, 'concept')) {
    await check.run.scheduler.turn()
    checkCode(check, concept)
    checkTexts(check, concept)
    for (const property of childrenOf(check.run, concept, 'property')) checkProperty(check, property)
    await checkLevel(check, concept)
  }
}

function checkCode({ run, seen, supplemented }: ConceptCheck, concept: FhirNode): void {
  const code = textOf(concept, 'code')
  if (code === undefined) return
  if (seen.has(code))
    run.findings.report(CODE_SYSTEM_CODE, concept, { text: `The code ${quoted(code)} is already defined.`, code: 'business-rule' })
  seen.add(code)
  if (supplemented !== undefined && supplemented.find(code) === undefined)
    run.findings.report(CODE_SYSTEM_SUPPLEMENT, concept, {
      text: `The supplemented code system ${quoted(supplemented.header.url)} does not define the code ${quoted(code)}.`,
    })
}

function checkTexts(check: ConceptCheck, concept: FhirNode): void {
  const { run, displays } = check
  if (check.isOfHl7) for (const name of ['display', 'definition']) checkPresence(check, concept, name)
  const display = textOf(concept, 'display')
  const original = displays.get(textOf(concept, 'code') ?? '')
  if (display !== undefined && original !== undefined && original.toLowerCase() !== display.toLowerCase())
    run.findings.report(CODE_SYSTEM_DESIGNATION, concept, {
      text: `The display ${quoted(display)} is in the same language as that of the supplemented code system, ${quoted(original)}.`,
      severity: 'information',
    })
  for (const designation of childrenOf(run, concept, 'designation')) checkDesignation(check, designation, display)
}

/** Reports only the first concept without the element. */
function checkPresence({ run, said }: ConceptCheck, concept: FhirNode, name: string): void {
  if (said.has(name) || !isObject(concept.value) || concept.value[name] !== undefined) return
  said.add(name)
  run.findings.report(CODE_SYSTEM_INCOMPLETE, concept, { text: `Every concept of an HL7 code system should have a ${name}.` })
}

/** A designation without a use is another display, so it must be in another language or equal the display. */
function checkDesignation({ run, system }: ConceptCheck, designation: FhirNode, display: string | undefined): void {
  if (display === undefined || textOf(designation, 'value') === display || hasUse(designation)) return
  const [general, own] = [textOf(system, 'language'), textOf(designation, 'language')]
  if (own !== undefined && own !== general) return
  const where = general === undefined ? 'no language' : `the language ${quoted(general)} of the code system`
  run.findings.report(CODE_SYSTEM_DESIGNATION, designation, {
    text: `The designation ${quoted(textOf(designation, 'value') ?? '')} has no use and ${where}, so it is not distinguished from the display ${quoted(display)}.`,
  })
}

function hasUse({ value }: FhirNode): boolean {
  return isObject(value) && objectAt(value, 'use') !== undefined
}

function checkProperty(check: ConceptCheck, property: FhirNode): void {
  const { run, properties } = check
  const code = textOf(property, 'code')
  if (code === undefined) return
  const [value] = childrenOf(run, property, 'value')
  const declared = properties.get(code)
  const say = (text: string, severity?: 'warning'): void =>
    run.findings.report(CODE_SYSTEM_PROPERTY, property, { text, ...(severity !== undefined && { severity }) })
  if (declared === undefined) say(`The property ${quoted(code)} is not declared.`, 'warning')
  if (value === undefined) return say(`The property ${quoted(code)} has no value.`)
  if (declared?.type !== undefined && value.type.name !== declared.type)
    say(`The property ${quoted(code)} has the type ${declared.type}, but its value here is a ${value.type.name}.`)
  else if (declared !== undefined && value.type.name === 'code') checkReference(check, property, { declared, value: value.value })
  if (code === 'synonym' && !check.codes.has(shownJson(value.value)))
    say(
      `The synonym ${quoted(shownJson(value.value))} is not a code of the code system; a synonym is another code for the same concept.`,
      'warning',
    )
}

interface Referred {
  readonly declared: DeclaredProperty
  readonly value: unknown
}

/** Reports, once per code, that it does not exist. */
function checkReference(check: ConceptCheck, property: FhirNode, { declared, value }: Referred): void {
  const { run, said, codes, system } = check
  if (declared.codes === undefined || typeof value !== 'string') return
  const { valueSet, severity } = declared.codes
  const key = `code ${valueSet?.canonical ?? ''}#${value}`
  if (said.has(key)) return
  said.add(key)
  if (valueSet !== undefined) {
    if (valueSet.has({ code: value }) === 'out')
      run.findings.report(CODE_SYSTEM_CODE, property, {
        text: `The code ${quoted(value)} is not in the value set ${valueSet.canonical}.`,
        severity,
      })
    return
  }
  const isSupplement = textOf(system, 'supplements') !== undefined
  if (isSupplement ? isKnown(check, value) : codes.has(value)) return
  run.findings.report(CODE_SYSTEM_CODE, property, {
    text: `The code ${quoted(value)} is not a code of this code system.`,
    severity: isSupplement ? 'error' : severity,
  })
}

/** Whether the supplemented code system has a code; true when not all its content is available. */
function isKnown({ supplemented }: ConceptCheck, code: string): boolean {
  return supplemented === undefined || supplemented.find(code) !== undefined
}

/** A code system without information that users of its codes need. */
export const CODE_SYSTEM_INCOMPLETE: FindingDefinition = defineFinding(
  'code-system-incomplete',
  'warning',
  'business-rule',
  'Add the elements that a code system of its kind should have.',
)

/** HL7's own code systems must follow a stricter rule. */
export function isOfHl7(system: JsonObject): boolean {
  return /(?:hl7|fhir)\.org/.test(stringAt(system, 'url') ?? '')
}

/** Checks that a code system states how complete its content is, whether case matters, and what the hierarchy means. */
export function checkMeaning(run: Run, node: FhirNode, system: JsonObject): void {
  const isStrict = isOfHl7(system)
  const say = (name: string, why: string, severity: 'error' | 'warning' | 'information'): void =>
    run.findings.report(CODE_SYSTEM_INCOMPLETE, node, {
      text: `The code system should have ${name}, which states ${why}.`,
      severity,
      ...(system[`_${name}`] !== undefined && { at: name }),
    })
  const usual = isStrict ? 'warning' : 'information'
  if (system['content'] === undefined) say('content', 'how much of it is here', isStrict ? 'error' : 'warning')
  if (system['caseSensitive'] === undefined) say('caseSensitive', 'whether codes are case-sensitive', usual)
  const isNested = objectsAt(system, 'concept').some((concept) => objectsAt(concept, 'concept').length > 0)
  if (isNested && system['hierarchyMeaning'] === undefined) say('hierarchyMeaning', 'what the hierarchy of concepts means', usual)
}
