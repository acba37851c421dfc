import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { containedOf } from '../reference/resolve-locally.js'

/** An answer with a value of the right type. */
export interface ValuedAnswer {
  readonly answer: Answer
  readonly value: NonNullable<Answer['value']>
  readonly item: FormItem
}

/** The data for checking responses. */
export interface ResponseCheck {
  readonly run: Run
  readonly form: Form
  /** True while a response is being filled in; missing answers are only warnings then. */
  readonly isUnfinished: boolean
}
/** A questionnaire that is not named or not loaded, so that the answers are not checked. */
export const QUESTIONNAIRE_UNKNOWN: FindingDefinition = defineFinding(
  'questionnaire-unknown',
  'warning',
  'required',
  'Load the questionnaire; until then answers are not checked against it.',
)

/** An item of a Questionnaire. */
export interface FormItem {
  readonly json: JsonObject
  readonly linkId: string
  readonly type: string
  readonly required: boolean
  readonly repeats: boolean
  readonly items: readonly FormItem[]
  /** Absent on items of the questionnaire itself. */
  readonly parent: FormItem | undefined
}

/** A Questionnaire in the form in which responses are checked against it. */
export interface Form {
  readonly canonical: string
  readonly resource: JsonObject
  readonly items: readonly FormItem[]
  readonly byLinkId: ReadonlyMap<string, FormItem>
  /** The resources that a `#id` in it can mean. */
  readonly contained: readonly JsonObject[]
}

/** The abstract type of all questions in the code system of item types; no item may have it. */
export const ABSTRACT_TYPE = 'question'

const EXAMPLE = /^https?:\/\/example\.org(?:\/|$)/

/** The questionnaire of a response: a contained or otherwise known one. Reports a missing or unknown one. */
export function formOf(run: Run, response: FhirNode): Form | undefined {
  const canonical = textOf(response, 'questionnaire')
  const isRequired = run.policy.questionnaire === 'required'
  if (canonical === undefined) {
    const text = 'The response has no questionnaire, so the answers are not checked.'
    run.findings.report(QUESTIONNAIRE_UNKNOWN, response, { text, severity: isRequired ? 'error' : 'information' })
    return undefined
  }
  const resource = canonical.startsWith('#')
    ? containedForm(run, response, canonical.slice(1))
    : run.definitions.definition('Questionnaire', canonical)
  if (resource === PENDING) return undefined
  if (resource !== undefined) return readForm(canonical, resource, containerValue(response))
  run.findings.report(QUESTIONNAIRE_UNKNOWN, response, {
    text: `The questionnaire ${quoted(canonical)} could not be found, so the answers are not checked against it.`,
    ...(isRequired ? { severity: 'error' } : EXAMPLE.test(canonical) && { severity: 'information' }),
  })
  return undefined
}

function containedForm(run: Run, response: FhirNode, id: string): JsonObject | undefined {
  const found = containedOf(run, response, id)
  return found?.type.name === 'Questionnaire' && isObject(found.value) ? found.value : undefined
}

function containerValue({ value }: FhirNode): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** Reads a Questionnaire. If several items have the same linkId, the first counts. */
export function readForm(canonical: string, resource: JsonObject, container?: JsonObject): Form {
  const byLinkId = new Map<string, FormItem>()
  const items = readItems(resource, undefined, byLinkId)
  return { canonical, resource, items, byLinkId, contained: [...objectsAt(resource, 'contained'), ...objectsAt(container, 'contained')] }
}

function readItems(holder: JsonObject, parent: FormItem | undefined, byLinkId: Map<string, FormItem>): readonly FormItem[] {
  return objectsAt(holder, 'item').map((json) => {
    const items: FormItem[] = []
    const item: FormItem = {
      json,
      linkId: stringAt(json, 'linkId') ?? '',
      type: stringAt(json, 'type') ?? '',
      required: json['required'] === true,
      repeats: json['repeats'] === true,
      items,
      parent,
    }
    if (!byLinkId.has(item.linkId)) byLinkId.set(item.linkId, item)
    for (const inner of readItems(json, item, byLinkId)) items.push(inner)
    return item
  })
}

/** A container of items of a response: the response itself, an item, or an answer. */
export interface Holder {
  readonly node: FhirNode
  /** The linkId of the item, or of the item that has the answer; `undefined` for the response. */
  readonly linkId: string | undefined
  readonly items: readonly ResponseItem[]
  readonly byLinkId: ReadonlyMap<string, readonly ResponseItem[]>
  /** Empty for the response and for answers. */
  readonly answers: readonly Answer[]
  /** The holder that contains this one; `undefined` for the response. */
  readonly above: Holder | undefined
}

/** An item of a QuestionnaireResponse. */
export interface ResponseItem extends Holder {
  readonly linkId: string
  readonly above: Holder
}

/** An answer with the items nested in it. */
export interface Answer extends Holder {
  /** `undefined` when there are only items or extensions. */
  readonly value: FhirNode | undefined
}

/** Reads a QuestionnaireResponse. */
export async function readResponse(run: Run, node: FhirNode): Promise<Holder> {
  const parts = emptyParts()
  const response: Holder = { node, linkId: undefined, answers: [], above: undefined, ...parts }
  await readAnsweredItems(run, response, parts)
  return response
}

/** Parts that are filled after the holder exists, so that its items can refer to it. */
interface HolderParts {
  readonly items: ResponseItem[]
  readonly byLinkId: Map<string, ResponseItem[]>
}

function emptyParts(): HolderParts {
  return { items: [], byLinkId: new Map() }
}

async function readAnsweredItems(run: Run, above: Holder, into: HolderParts): Promise<void> {
  for (const node of childrenOf(run, above.node, 'item')) {
    run.scheduler.step()
    await run.scheduler.turn()
    const parts = emptyParts()
    const answers: Answer[] = []
    const item: ResponseItem = { node, linkId: textOf(node, 'linkId') ?? '', answers, above, ...parts }
    await readAnsweredItems(run, item, parts)
    for (const answer of childrenOf(run, node, 'answer')) answers.push(await readAnswer(run, item, answer))
    into.items.push(item)
    const same = into.byLinkId.get(item.linkId)
    if (same === undefined) into.byLinkId.set(item.linkId, [item])
    else same.push(item)
  }
}

async function readAnswer(run: Run, item: ResponseItem, node: FhirNode): Promise<Answer> {
  const parts = emptyParts()
  const [value] = childrenOf(run, node, 'value')
  const answer: Answer = { node, linkId: item.linkId, answers: [], above: item, value, ...parts }
  await readAnsweredItems(run, answer, parts)
  return answer
}
