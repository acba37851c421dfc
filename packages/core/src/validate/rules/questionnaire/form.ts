import { OperationError, quoted } from '../../../errors/index.js'
import { type FhirNode, type Items, PENDING, rootNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject, objectsAt, stringAt } from '../../../json/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { resourceOf, type Run } from '../../run/run.js'
import { expressionContext } from '../constraint/expression-context.js'
import { containedOf } from '../reference/resolve-locally.js'
import { compareValues } from '../value/check-limits.js'

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

const ENABLE_EXPRESSION = 'http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-enableWhenExpression'

/** An item and its questionnaire. */
interface ItemOfForm {
  readonly form: Form
  readonly item: FormItem
}

/**
 * Whether the conditions of an item are met at its place in the response; `undefined` when that cannot be decided. Conditions refer to the nearest
 * occurrence of their question.
 *
 * @see https://hl7.org/fhir/R4/questionnaire-definitions.html#Questionnaire.item.enableWhen
 */
export function isEnabled(run: Run, { form, item }: ItemOfForm, holder: Holder): boolean | undefined {
  const expression = extensionValues(item.json, ENABLE_EXPRESSION)[0]
  if (isObject(expression)) return isExpressionTrue(run, { form, item, expression }, holder)
  const conditions = objectsAt(item.json, 'enableWhen')
  if (conditions.length === 0) return true
  const holds = (condition: JsonObject): boolean => {
    const question = form.byLinkId.get(stringAt(condition, 'question') ?? '')
    // A question that does not exist has no answers; `checkQuestionnaire` reports it for the questionnaire.
    const occurrences = question === undefined ? [] : nearest(run, { form, question }, holder)
    return conditionHolds(
      condition,
      occurrences.flatMap(({ answers }) => answers),
    )
  }
  // Without enableBehavior, R4 combines conditions with 'or'.
  return item.json['enableBehavior'] === 'all' ? conditions.every(holds) : conditions.some(holds)
}

/**
 * Evaluates an expression on the whole response. `undefined` for an expression in another language, or with variables that only the form-filling program
 * knows.
 *
 * @see http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-enableWhenExpression
 */
function isExpressionTrue(
  run: Run,
  { form, item, expression }: ItemOfForm & { expression: JsonObject },
  holder: Holder,
): boolean | undefined {
  const text = stringAt(expression, 'expression')
  if (expression['language'] !== 'text/fhirpath' || text === undefined) return undefined
  const response = resourceOf(holder.node)
  const questionnaire = rootNode(run.model, form.resource)
  const variables = new Map<string, Items>([['questionnaire', [questionnaire]]])
  const own = text.includes('%qitem') ? itemNode(run, questionnaire, item) : undefined
  if (own !== undefined) variables.set('qitem', [own])
  try {
    const result = run.definitions.expression(text).test({ ...expressionContext(run, response), variables }, response)
    return result === PENDING ? undefined : result === true
  } catch (error) {
    if (error instanceof OperationError) return undefined
    throw error
  }
}

function itemNode(run: Run, questionnaire: FhirNode, item: FormItem): FhirNode | undefined {
  let found: FhirNode | undefined = questionnaire
  for (const { json } of pathTo(item)) found = found && childrenOf(run, found, 'item').find(({ value }) => value === json)
  return found
}

function conditionHolds(condition: JsonObject, answers: readonly Answer[]): boolean {
  const operator = stringAt(condition, 'operator')
  if (operator === 'exists') return condition['answerBoolean'] === answers.some(({ value }) => value !== undefined)
  const test = TESTS.get(operator ?? '')
  const expected = typedMember(condition, 'answer')
  if (test === undefined || expected === undefined) return true
  return answers.some(({ value }) => value !== undefined && test(value, expected))
}

const TESTS: ReadonlyMap<string, (value: FhirNode, expected: TypedValue) => boolean> = new Map([
  ['=', isAsked],
  ['!=', (value, expected) => !isAsked(value, expected)],
  ['>', (value, expected) => order(value, expected) > 0],
  ['<', (value, expected) => order(value, expected) < 0],
  ['>=', (value, expected) => order(value, expected) >= 0],
  ['<=', (value, expected) => order(value, expected) <= 0],
])

/** Whether an answer is the one that a condition names. If the condition states no system, only the code counts. */
function isAsked(answer: FhirNode, expected: TypedValue): boolean {
  if (expected.type !== 'Coding' || !isObject(expected.value) || expected.value['system'] !== undefined) return sameAnswer(answer, expected)
  return answer.type.name === 'Coding' && isObject(answer.value) && sameMembers(answer.value, expected.value, ['code'])
}

/** The order of two values. NaN, which satisfies no comparison, when they cannot be compared. */
function order(value: FhirNode, expected: TypedValue): number {
  return compareValues(value.value, expected.value) ?? Number.NaN
}

/** The occurrences of a question in the innermost group around a holder that can contain it. */
function nearest(run: Run, { form, question }: { form: Form; question: FormItem }, from: Holder): readonly ResponseItem[] {
  const path = pathTo(question)
  for (let holder: Holder | undefined = from; holder !== undefined; holder = holder.above) {
    const own = holder.linkId === undefined ? undefined : form.byLinkId.get(holder.linkId)
    if (own === question) {
      if (isItem(holder)) return [holder]
      continue
    }
    const depth = own === undefined ? 0 : path.indexOf(own) + 1
    if ((own === undefined && holder.above === undefined) || depth > 0) return below(run, [holder], path.slice(depth))
  }
  return []
}

/** The items that lead to an item, from the outermost to the item itself. */
function pathTo(item: FormItem): readonly FormItem[] {
  const path: FormItem[] = []
  for (let current: FormItem | undefined = item; current !== undefined; current = current.parent) path.unshift(current)
  return path
}

function below(run: Run, holders: readonly Holder[], path: readonly FormItem[]): readonly ResponseItem[] {
  let current: readonly Holder[] = holders
  let found: readonly ResponseItem[] = []
  for (const { linkId } of path) {
    found = current.flatMap((holder) => {
      run.scheduler.step()
      return [holder, ...holder.answers].flatMap(({ byLinkId }) => byLinkId.get(linkId) ?? [])
    })
    current = found
  }
  return found
}

function isItem(holder: Holder): holder is ResponseItem {
  return holder.linkId !== undefined && holder.above !== undefined && holder.node.slot?.name === 'item'
}

/** The value of a choice element, with the name of its type as in JSON: `Coding`, `Date`. */
interface TypedValue {
  readonly type: string
  readonly value: unknown
}

/** The choice member of an object that starts with `prefix`: `answerCoding` for `answer`. */
export function typedMember(object: JsonObject, prefix: string): TypedValue | undefined {
  const name = Object.keys(object).find((key) => key.startsWith(prefix) && /^[A-Z]/.test(key.slice(prefix.length)))
  return name === undefined ? undefined : { type: name.slice(prefix.length), value: object[name] }
}

/** Whether a value is the expected one. Codings are equal if system and code are, References if their targets are. */
export function sameAnswer({ value, type }: FhirNode, expected: TypedValue): boolean {
  if (type.name.toLowerCase() !== expected.type.toLowerCase()) return false
  if (!isObject(value) || !isObject(expected.value)) return value === expected.value
  if (type.name === 'Coding') return sameMembers(value, expected.value, ['system', 'code'])
  if (type.name === 'Reference') return sameMembers(value, expected.value, ['reference'])
  return compareValues(value, expected.value) === 0
}

function sameMembers(a: JsonObject, b: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => stringAt(a, name) === stringAt(b, name))
}
