import { quoted } from '../../../errors/index.js'
import { PENDING, type Pending } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { conceptTexts, foldTerm } from '../../../terminology/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import type { CodeList, GivenCode } from '../../run/definitions.js'
import { defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'
import { VALUE_SET_CIRCULAR, VALUE_SET_UNKNOWN, VALUE_SET_UNUSABLE } from '../codes/bound-codes.js'
import { type FormItem, type ResponseCheck, type ResponseItem, sameAnswer, typedMember, type ValuedAnswer } from './form.js'

/** An answer that is not among the options of its question, or an exclusive option together with others. */
export const ANSWER_OPTION: FindingDefinition = defineFinding(
  'answer-option',
  'error',
  'invariant',
  'Choose one of the options of the question.',
)
/** An answer to a question without options. */
export const ANSWER_OPTIONS_UNKNOWN: FindingDefinition = defineFinding(
  'answer-options-unknown',
  'information',
  'invariant',
  'Add options to the question; until then the answer is not checked.',
)
/** An answer that is not in the value set of its question. */
export const ANSWER_CODE: FindingDefinition = defineFinding(
  'answer-code',
  'error',
  'code-invalid',
  'Answer with a code from the value set of the question.',
)

const EXCLUSIVE = 'http://hl7.org/fhir/StructureDefinition/questionnaire-optionExclusive'

/** Checks that an answer is among the options, or in the value set, of the item. */
export function checkOptions(check: ResponseCheck, valued: ValuedAnswer): void {
  const { item } = valued
  const options = objectsAt(item.json, 'answerOption')
  const valueSet = stringAt(item.json, 'answerValueSet')
  if (options.length > 0 && !WITHOUT_OPTIONS.has(item.type)) checkOption(check, valued, options)
  else if (valueSet !== undefined && !isUncoded(valued)) checkInValueSet(check, valued, valueSet)
  else if (CHOICES.has(item.type)) {
    say(check, valued, { finding: ANSWER_OPTIONS_UNKNOWN, text: 'The item has no options, so the answer cannot be checked.' })
  }
}

const CHOICES: ReadonlySet<string> = new Set(['choice', 'open-choice'])

/** Types of questions whose answers cannot be options; options that a questionnaire gives for them are ignored. */
const WITHOUT_OPTIONS: ReadonlySet<string> = new Set(['boolean', 'url', 'quantity', 'reference', 'attachment'])

/** True for a text, a number or a date as the answer to a choice, for which the value set cannot decide. */
function isUncoded({ item, value }: ValuedAnswer): boolean {
  return CHOICES.has(item.type) && !isObject(value.value)
}

/** Checks that an option that excludes all others is the only answer. */
export function checkExclusiveOptions({ run, form }: ResponseCheck, { answers }: ResponseItem, item: FormItem): void {
  if (answers.length < 2) return
  const exclusive = objectsAt(item.json, 'answerOption').filter((option) => extensionValues(option, EXCLUSIVE)[0] === true)
  for (const { node, value } of answers) {
    if (value === undefined || !exclusive.some((option) => isOption(value, item, option))) continue
    run.findings.report(ANSWER_OPTION, node, {
      text: `An exclusive option of ${quoted(item.linkId)} was selected, but there are ${answers.length} answers.`,
      profile: form.canonical,
    })
  }
}

function checkOption(check: ResponseCheck, valued: ValuedAnswer, options: readonly JsonObject[]): void {
  const { value, item } = valued
  if (options.some((option) => isOption(value, item, option))) return
  if (item.type === 'open-choice' && value.type.name === 'string') {
    const isLabel = options.some((option) => isLabelOf(option, shownJson(value.value)))
    if (isLabel)
      say(check, valued, {
        finding: ANSWER_OPTION,
        severity: 'warning',
        text: `The text ${quoted(shownJson(value.value))} is the label of an option; answer with its code.`,
      })
    return
  }
  say(check, valued, { finding: ANSWER_OPTION, text: `The answer ${shown(valued)} is not among the options of the item.` })
}

/** Whether an answer is an option. Options cannot be decimals or dateTimes, so integers, dates and texts stand for these. */
function isOption(value: ValuedAnswer['value'], { type }: FormItem, option: JsonObject): boolean {
  const expected = typedMember(option, 'value')
  if (expected === undefined) return false
  return type === 'decimal' || type === 'dateTime' ? shownJson(value.value) === shownJson(expected.value) : sameAnswer(value, expected)
}

function isLabelOf(option: JsonObject, text: string): boolean {
  const coding = typedMember(option, 'value')?.value
  const names = isObject(coding) ? [stringAt(coding, 'display'), stringAt(coding, 'code')] : []
  return names.some((name) => name !== undefined && foldTerm(name) === foldTerm(text))
}

function checkInValueSet(check: ResponseCheck, valued: ValuedAnswer, canonical: string): void {
  const list = valueSetOf(check, canonical)
  const { value } = valued.value
  if (list === PENDING) return
  if (list === undefined)
    say(check, valued, {
      finding: VALUE_SET_UNKNOWN,
      text: `The value set ${quoted(canonical)} of the item could not be found.`,
      ...(!CHOICES.has(valued.item.type) && { code: 'invariant' }),
    })
  else if (list.circle !== undefined) say(check, valued, { finding: VALUE_SET_CIRCULAR, text: `${list.circle}.` })
  else if (list.problem !== undefined && list.has(givenCode(value)) === 'unknown')
    say(check, valued, {
      finding: VALUE_SET_UNUSABLE,
      text: `The value set ${quoted(canonical)} of the item cannot be used: ${list.problem}`,
    })
  else if (isObject(value)) checkCoding(check, valued, { coding: value, list })
  else if (typeof value === 'string' && list.has({ code: value }) === 'out') {
    check.run.findings.report(ANSWER_OPTION, valued.value, {
      text: `${quoted(value)} is not a code of the value set ${quoted(canonical)}.`,
      profile: check.form.canonical,
    })
  }
}

function givenCode(value: unknown): GivenCode {
  return isObject(value) ? { code: stringAt(value, 'code') ?? '', system: stringAt(value, 'system') } : { code: shownJson(value) }
}

function valueSetOf({ run, form }: ResponseCheck, canonical: string): CodeList | undefined | Pending {
  if (!canonical.startsWith('#')) return run.definitions.valueSet(canonical)
  const contained = form.contained.find((resource) => resource['resourceType'] === 'ValueSet' && resource['id'] === canonical.slice(1))
  return contained === undefined ? undefined : run.definitions.givenValueSet(contained)
}

function checkCoding(check: ResponseCheck, valued: ValuedAnswer, { coding, list }: { coding: JsonObject; list: CodeList }): void {
  const code = stringAt(coding, 'code')
  const system = stringAt(coding, 'system')
  if (code === undefined) {
    say(check, valued, { finding: ANSWER_CODE, text: `A coding without code is not in the value set ${quoted(list.title)} of the item.` })
    return
  }
  if (system === undefined) {
    say(check, valued, {
      finding: ANSWER_CODE,
      // If a value set is a single list of codes, the meaning of a code without system is clear.
      ...(list.isOneList && list.lists(code) && { severity: 'warning' }),
      text: `The code ${quoted(code)} must have a system to be in the value set ${quoted(list.title)} of the item.`,
    })
    return
  }
  const verdict = list.has({ system, version: stringAt(coding, 'version'), code })
  if (verdict === 'unknown') checkKnown(check, valued, { system, list })
  else if (verdict === 'out') {
    say(check, valued, { finding: ANSWER_CODE, text: `${shown(valued)} is not in the value set ${quoted(list.title)} of the item.` })
  } else if (hasOtherDisplay(check, { system, coding, code })) {
    say(check, valued, {
      finding: ANSWER_CODE,
      text: `${shown(valued)} is in the value set ${quoted(list.title)} of the item, but with another display.`,
    })
  }
}

function checkKnown(check: ResponseCheck, valued: ValuedAnswer, { system, list }: { system: string; list: CodeList }): void {
  const family = check.run.definitions.codeSystem(system)
  if (family === PENDING || !family.unknown) return
  say(check, valued, {
    finding: ANSWER_CODE,
    severity: 'warning',
    text: `${shown(valued)} cannot be checked against the value set ${quoted(list.title)} of the item, as its code system is not known.`,
  })
}

function hasOtherDisplay({ run }: ResponseCheck, { system, coding, code }: { system: string; coding: JsonObject; code: string }): boolean {
  const display = stringAt(coding, 'display')
  const family = run.definitions.codeSystem(system)
  if (display === undefined || family === PENDING) return false
  const provider = family.provider(stringAt(coding, 'version'))
  const concept = provider?.find(code)
  if (provider === undefined || concept === undefined) return false
  const texts = conceptTexts(provider, concept)
  return texts.length > 0 && !texts.some(({ value }) => foldTerm(value) === foldTerm(display))
}

interface OptionReport {
  readonly finding: FindingDefinition
  readonly text: string
  readonly severity?: Finding['severity']
  readonly code?: Finding['code']
}

/** Reports at the answer for a choice, and at its value for other questions. */
function say({ run, form }: ResponseCheck, { answer, value, item }: ValuedAnswer, { finding, ...rest }: OptionReport): void {
  run.findings.report(finding, CHOICES.has(item.type) ? answer.node : value, { ...rest, profile: form.canonical })
}

function shown({ value: { value } }: ValuedAnswer): string {
  return quoted(
    isObject(value)
      ? [stringAt(value, 'system'), stringAt(value, 'code') ?? stringAt(value, 'reference')].filter((part) => part !== undefined).join('#')
      : shownJson(value),
  )
}
