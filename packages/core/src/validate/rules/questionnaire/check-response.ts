import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { objectAt, stringAt } from '../../../json/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import { defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'
import { textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { compareValues } from '../value/check-limits.js'
import { checkExclusiveOptions } from './answer-options.js'
import { ANSWER_FINDINGS, checkAnswer } from './check-answer.js'
import {
  ABSTRACT_TYPE,
  type Form,
  type FormItem,
  formOf,
  type Holder,
  isEnabled,
  QUESTIONNAIRE_UNKNOWN,
  readResponse,
  type ResponseCheck,
  type ResponseItem,
} from './form.js'

const QUESTIONNAIRE_PERIOD: FindingDefinition = defineFinding(
  'questionnaire-period',
  'warning',
  'business-rule',
  'Check that the response belongs to this version of the questionnaire.',
)
const LINK_ID_UNKNOWN: FindingDefinition = defineFinding('link-id-unknown', 'error', 'not-found', 'Use a linkId of the questionnaire.')
const LINK_ID_PLACE: FindingDefinition = defineFinding(
  'link-id-place',
  'error',
  'structure',
  'Move the item to its position in the questionnaire.',
)
const ITEM_TEXT: FindingDefinition = defineFinding(
  'item-text',
  'error',
  'invalid',
  'Use the text that the item has in the questionnaire, or none.',
)
const ITEM_STRUCTURE: FindingDefinition = defineFinding(
  'item-structure',
  'error',
  'structure',
  'Give the item only what its type can have.',
)
const ITEM_DISABLED: FindingDefinition = defineFinding(
  'item-disabled',
  'error',
  'invalid',
  'Remove the answers, or change the answers that the item depends on.',
)
const ITEM_REPEATED: FindingDefinition = defineFinding(
  'item-repeated',
  'error',
  'invalid',
  'Give the item once, with several answers if the questionnaire allows them.',
)
const ANSWER_MISSING: FindingDefinition = defineFinding('answer-missing', 'error', 'required', 'Answer the question.')
const ANSWER_COUNT: FindingDefinition = defineFinding(
  'answer-count',
  'error',
  'invalid',
  'Give as many answers as the questionnaire allows.',
)

/** QuestionnaireResponses. */
export const questionnaireResponseRule: ResourceRule = {
  on: ['QuestionnaireResponse'],
  finds: [
    QUESTIONNAIRE_UNKNOWN,
    QUESTIONNAIRE_PERIOD,
    LINK_ID_UNKNOWN,
    LINK_ID_PLACE,
    ITEM_TEXT,
    ITEM_STRUCTURE,
    ITEM_DISABLED,
    ITEM_REPEATED,
    ANSWER_MISSING,
    ANSWER_COUNT,
    ...ANSWER_FINDINGS,
  ],
  check: checkResponse,
}

/** Checks a QuestionnaireResponse against its questionnaire, if that is known. */
async function checkResponse(run: Run, node: FhirNode): Promise<void> {
  if (run.policy.questionnaire === 'off') return
  const form = formOf(run, node)
  if (form === undefined) return
  checkPeriod(run, node, form)
  const status = textOf(node, 'status')
  const check = { run, form, isUnfinished: status !== 'completed' && status !== 'amended' }
  await checkItems(check, await readResponse(run, node), form.items)
}

/** Checks that a response was authored while the questionnaire was in use. */
function checkPeriod(run: Run, node: FhirNode, { resource }: Form): void {
  const authored = textOf(node, 'authored')
  const period = objectAt(resource, 'effectivePeriod')
  if (authored === undefined || period === undefined) return
  const [start, end] = [stringAt(period, 'start'), stringAt(period, 'end')]
  if (start !== undefined && (compareValues(authored, start) ?? 0) < 0) {
    run.findings.report(QUESTIONNAIRE_PERIOD, node, {
      text: `The response was authored on ${quoted(authored)}, but the questionnaire is effective only from ${start}.`,
      at: 'authored',
    })
  }
  if (end !== undefined && (compareValues(authored, end) ?? 0) > 0) {
    run.findings.report(QUESTIONNAIRE_PERIOD, node, {
      text: `The response was authored on ${quoted(authored)}, but the questionnaire was effective only until ${end}.`,
      at: 'authored',
    })
  }
}

const MIN_OCCURS = 'http://hl7.org/fhir/StructureDefinition/questionnaire-minOccurs'
const MAX_OCCURS = 'http://hl7.org/fhir/StructureDefinition/questionnaire-maxOccurs'

/** Checks the items at one level of a response against the items of the questionnaire at that level. */
async function checkItems(check: ResponseCheck, holder: Holder, items: readonly FormItem[]): Promise<void> {
  const found = await inPlace(check, holder, items)
  for (const item of items) await checkOccurrences(check, holder, { item, found: found.get(item) ?? [] })
}

/** The response's items by the item that they answer. Reports items that belong elsewhere, are not in the questionnaire, or are out of order. */
async function inPlace(
  check: ResponseCheck,
  holder: Holder,
  items: readonly FormItem[],
): Promise<ReadonlyMap<FormItem, readonly ResponseItem[]>> {
  const positions = new Map(items.map((item, position) => [item.linkId, { item, position }]))
  const found = new Map<FormItem, ResponseItem[]>()
  let last = 0
  for (const one of holder.items) {
    const place = positions.get(one.linkId)
    if (place === undefined) {
      await checkStray(check, holder, one)
      continue
    }
    if (place.position < last) reportOrder(check, holder, one)
    last = Math.max(last, place.position)
    const group = found.get(place.item)
    if (group === undefined) found.set(place.item, [one])
    else group.push(one)
  }
  return found
}

async function checkStray(check: ResponseCheck, holder: Holder, one: ResponseItem): Promise<void> {
  if (one.linkId === '') {
    report(check, LINK_ID_UNKNOWN, { at: holder, text: 'There is an item without linkId, which cannot be checked.', code: 'required' })
    return
  }
  const item = check.form.byLinkId.get(one.linkId)
  if (item === undefined) {
    report(check, LINK_ID_UNKNOWN, { at: holder, text: `The questionnaire has no item with linkId ${quoted(one.linkId)}.` })
    return
  }
  const place = item.parent === undefined ? 'the questionnaire itself' : `the item ${quoted(item.parent.linkId)}`
  report(check, LINK_ID_PLACE, { at: holder, text: `The item ${quoted(one.linkId)} is in the wrong place; it belongs in ${place}.` })
  await checkItem(check, one, item)
}

function reportOrder(check: ResponseCheck, holder: Holder, { linkId }: ResponseItem): void {
  report(check, LINK_ID_PLACE, {
    at: holder,
    text: `The item ${quoted(linkId)} is out of order; items must be in the order of the questionnaire.`,
  })
}

interface Occurrences {
  readonly item: FormItem
  readonly found: readonly ResponseItem[]
}

async function checkOccurrences(check: ResponseCheck, holder: Holder, { item, found }: Occurrences): Promise<void> {
  const { run, form } = check
  run.scheduler.step()
  await run.scheduler.turn()
  const enabled = isEnabled(run, { form, item }, holder)
  if (enabled === false) reportDisabled(check, found.filter(hasContent))
  const isAsked = enabled === true
  if (found.length === 0 && item.required && isAsked) reportMissing(check, holder, item)
  if (found.length > 1 && !item.repeats) {
    report(check, ITEM_REPEATED, { at: holder, text: `The item ${quoted(item.linkId)} must not occur more than once.` })
  }
  if (item.type === 'group' && found.length > 0) checkCount(check, holder, { item, count: found.length })
  for (const one of found) await checkItem(check, one, isAsked ? item : { ...item, required: false })
}

function reportDisabled(check: ResponseCheck, found: readonly ResponseItem[]): void {
  for (const one of found) {
    report(check, ITEM_DISABLED, { at: one, text: `The item ${quoted(one.linkId)} has answers although it is not enabled.` })
  }
}

function hasContent({ answers, items }: Holder): boolean {
  return answers.length > 0 || items.length > 0
}

async function checkItem(check: ResponseCheck, one: ResponseItem, item: FormItem): Promise<void> {
  checkText(check, one, item)
  if (item.type === '')
    report(check, ITEM_STRUCTURE, {
      at: one,
      text: `The item ${quoted(item.linkId)} of the questionnaire has no type.`,
      severity: 'fatal',
      code: 'required',
    })
  if (item.type === 'group' || item.type === 'display') await checkUnasked(check, one, item)
  else await checkQuestion(check, one, item)
}

function checkText(check: ResponseCheck, one: ResponseItem, { linkId, json }: FormItem): void {
  const text = textOf(one.node, 'text')
  if (text !== undefined && text !== json['text'])
    report(check, ITEM_TEXT, { at: one, text: `The text of the item ${quoted(linkId)} is not that of the questionnaire.` })
}

/** Checks a group or a display, which have no answers. */
async function checkUnasked(check: ResponseCheck, one: ResponseItem, item: FormItem): Promise<void> {
  const { type, linkId } = item
  if (one.answers.length > 0)
    report(check, ITEM_STRUCTURE, { at: one, text: `The item ${quoted(linkId)} is a ${type}, which cannot have answers.` })
  if (type === 'display') {
    if (one.items.length > 0)
      report(check, ITEM_STRUCTURE, { at: one, text: `The item ${quoted(linkId)} is a display, which cannot have items.` })
    return
  }
  if (item.required && one.items.length === 0)
    report(check, ANSWER_MISSING, { at: one, text: `The group ${quoted(linkId)} must have items.`, code: 'invariant' })
  await checkItems(check, one, item.items)
}

async function checkQuestion(check: ResponseCheck, one: ResponseItem, item: FormItem): Promise<void> {
  if (one.items.length > 0) {
    report(check, ITEM_STRUCTURE, {
      at: one,
      text: `The item ${quoted(item.linkId)} is a question; its nested items belong in its answer.`,
    })
  }
  if (item.type === ABSTRACT_TYPE && one.answers.length > 0)
    report(check, ITEM_STRUCTURE, {
      at: one,
      text: `The item ${quoted(item.linkId)} is of the abstract type 'question', which has no answers.`,
    })
  await checkAnswers(check, one, item)
}

async function checkAnswers(check: ResponseCheck, one: ResponseItem, item: FormItem): Promise<void> {
  const count = one.answers.length
  if (count === 0 && item.required) reportMissing(check, one, item)
  else if (count > 1 && !item.repeats)
    report(check, ANSWER_COUNT, { at: one, text: `The item ${quoted(item.linkId)} can have only one answer.` })
  else checkCount(check, one, { item, count })
  checkExclusiveOptions(check, one, item)
  for (const answer of one.answers) {
    checkAnswer(check, answer, item)
    await check.run.scheduler.turn()
    await checkItems(check, answer, item.items)
  }
}

function checkCount(check: ResponseCheck, at: Holder, { item, count }: { item: FormItem; count: number }): void {
  const min = extensionValues(item.json, MIN_OCCURS)[0]
  const max = extensionValues(item.json, MAX_OCCURS)[0]
  if (typeof min === 'number' && count < min) {
    report(check, ANSWER_COUNT, {
      at,
      text: `The item ${quoted(item.linkId)} must have at least ${min} answers, but has ${count}.`,
      ...softened(check),
    })
  }
  if (typeof max === 'number' && count > max) {
    report(check, ANSWER_COUNT, { at, text: `The item ${quoted(item.linkId)} can have at most ${max} answers, but has ${count}.` })
  }
}

function reportMissing(check: ResponseCheck, at: Holder, { linkId }: FormItem): void {
  report(check, ANSWER_MISSING, { at, text: `The item ${quoted(linkId)} must be answered.`, ...softened(check) })
}

function softened({ isUnfinished }: ResponseCheck): { severity?: Finding['severity'] } {
  return isUnfinished ? { severity: 'warning' } : {}
}

interface ItemReport {
  readonly at: Holder
  readonly text: string
  readonly severity?: Finding['severity']
  readonly code?: Finding['code']
}

/** Findings about the items in an answer are reported at the item that has the answer. */
function report({ run, form }: ResponseCheck, finding: FindingDefinition, { at: { node }, ...rest }: ItemReport): void {
  const place = node.slot?.name === 'answer' ? (node.parent ?? node) : node
  run.findings.report(finding, place, { ...rest, profile: form.canonical })
}
