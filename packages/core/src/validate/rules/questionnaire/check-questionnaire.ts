import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import { defineFinding, type FindingDefinition, INVARIANT } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { answerTypes, typeProblem, ANSWER_TYPE } from './check-answer.js'
import { ABSTRACT_TYPE, type Form, type FormItem, readForm, sameAnswer, typedMember } from './form.js'

const QUESTIONNAIRE_ENABLE_WHEN: FindingDefinition = defineFinding(
  'questionnaire-enable-when',
  'error',
  'business-rule',
  'Refer to a question of the questionnaire that is not inside the item.',
)
const QUESTIONNAIRE_TYPE: FindingDefinition = defineFinding(
  'questionnaire-item-type',
  'warning',
  'code-invalid',
  'Give the question the type of its answers.',
)
const QUESTIONNAIRE_OPTIONS: FindingDefinition = defineFinding(
  'questionnaire-options',
  'warning',
  'business-rule',
  'Give the question options, or a value set of answers.',
)
const QUESTIONNAIRE_PARAMETER: FindingDefinition = defineFinding(
  'questionnaire-parameter',
  'error',
  'business-rule',
  'Give the parameters that the value set of the answers declares.',
)

/** A base questionnaire that is unknown or cannot be used. */
const QUESTIONNAIRE_DERIVED_FROM: FindingDefinition = defineFinding(
  'questionnaire-derived-from',
  'warning',
  'business-rule',
  'Load the questionnaire that this one is derived from.',
)
/** An item that differs from the base questionnaire in a way that its derivation does not allow. */
const QUESTIONNAIRE_DERIVED_ITEM: FindingDefinition = defineFinding(
  'questionnaire-derived-item',
  'error',
  'business-rule',
  'Keep what the base questionnaire defines for the item.',
)

/** Questionnaires. */
export const questionnaireRule: ResourceRule = {
  on: ['Questionnaire'],
  finds: [
    QUESTIONNAIRE_ENABLE_WHEN,
    QUESTIONNAIRE_DERIVED_FROM,
    QUESTIONNAIRE_DERIVED_ITEM,
    QUESTIONNAIRE_TYPE,
    QUESTIONNAIRE_OPTIONS,
    QUESTIONNAIRE_PARAMETER,
    ANSWER_TYPE,
    INVARIANT,
  ],
  check: checkQuestionnaire,
}

/**
 * Checks a Questionnaire: conditions refer to earlier questions and to answers of their type, choices have options, initial values have the type of their
 * item, and the questionnaires that it is derived from are known.
 */
async function checkQuestionnaire(run: Run, node: FhirNode): Promise<void> {
  if (!isObject(node.value)) return
  const form = readForm('', node.value)
  const order = new Map([...form.byLinkId.values()].map((item, position) => [item, position]))
  checkUnique(run, node, form.items)
  await run.scheduler.turn()
  await checkItems(run, node, { items: form.items, byLinkId: form.byLinkId, order })
  checkDerivedFrom(run, node)
}

/** Checks que-2. */
function checkUnique(run: Run, node: FhirNode, items: readonly FormItem[]): void {
  const linkIds = linkIdsIn(items)
  if (new Set(linkIds).size < linkIds.length)
    run.findings.report(INVARIANT, node, { text: 'que-2: The link ids for groups and questions must be unique within the questionnaire' })
}

function linkIdsIn(items: readonly FormItem[]): readonly string[] {
  return items.flatMap((item) => [...(item.linkId === '' ? [] : [item.linkId]), ...linkIdsIn(item.items)])
}

interface Level {
  readonly items: readonly FormItem[]
  readonly byLinkId: ReadonlyMap<string, FormItem>
  /** The positions of the items in the questionnaire. */
  readonly order: ReadonlyMap<FormItem, number>
}

async function checkItems(run: Run, parent: FhirNode, { items, ...level }: Level): Promise<void> {
  for (const [index, node] of childrenOf(run, parent, 'item').entries()) {
    const item = items[index]
    if (item === undefined) continue
    if (item.type === ABSTRACT_TYPE)
      run.findings.report(QUESTIONNAIRE_TYPE, node, {
        text: `The type 'question' is abstract: it says nothing about the answers.`,
        at: 'type',
      })
    checkConditions(run, node, { item, ...level })
    checkConditionAnswers(run, node, level.byLinkId)
    checkChoice(run, node, item)
    checkInitial(run, node, item)
    checkBindingParameters(run, node)
    await run.scheduler.turn()
    await checkItems(run, node, { items: item.items, ...level })
  }
}

function checkConditions(run: Run, node: FhirNode, { item, byLinkId, order }: Omit<Level, 'items'> & { item: FormItem }): void {
  for (const condition of objectsAt(item.json, 'enableWhen')) {
    const linkId = stringAt(condition, 'question')
    const text = conditionProblem(item, linkId, byLinkId)
    if (text !== undefined) run.findings.report(QUESTIONNAIRE_ENABLE_WHEN, node, { text })
    else if (isAfter(byLinkId.get(linkId ?? ''), { item, order })) {
      const late = `The condition refers to the question ${quoted(linkId ?? '')}, which comes after the item.`
      run.findings.report(QUESTIONNAIRE_ENABLE_WHEN, node, { text: late, severity: 'warning' })
    }
  }
}

/** Reports a condition on an answer that its question cannot have. */
function checkConditionAnswers(run: Run, node: FhirNode, byLinkId: ReadonlyMap<string, FormItem>): void {
  for (const condition of childrenOf(run, node, 'enableWhen')) {
    const question = byLinkId.get(textOf(condition, 'question') ?? '')
    const [answer] = childrenOf(run, condition, 'answer')
    if (question === undefined || answer === undefined || textOf(condition, 'operator') === 'exists') continue
    const types = answerTypes(question)?.map((type) => IN_CONDITIONS.get(type) ?? type)
    if (types === undefined || types.includes(answer.type.name)) continue
    run.findings.report(QUESTIONNAIRE_ENABLE_WHEN, answer, {
      text: `The question ${quoted(question.linkId)} has answers of type ${types.join(' or ')}, so the condition cannot compare one with a ${answer.type.name}.`,
      severity: 'warning',
    })
  }
}

/** Types of answers that conditions state with another type. */
const IN_CONDITIONS: ReadonlyMap<string, string> = new Map([['uri', 'string']])

/** Extensions that determine options while the form is filled in. */
const OPTIONS_BY_EXPRESSION = /\/sdc-questionnaire-(?:answerExpression|candidateExpression|lookupQuestionnaire)$/

/**
 * Reports a choice without options, as a best practice and never as an error, because no constraint requires options. A derived form has the options of
 * its base.
 */
function checkChoice(run: Run, node: FhirNode, { type, json }: FormItem): void {
  const { bestPractice } = run.policy
  if (bestPractice === 'off') return
  if ((type !== 'choice' && type !== 'open-choice') || json['answerOption'] !== undefined || json['answerValueSet'] !== undefined) return
  if (json['_answerValueSet'] !== undefined || objectsAt(json, 'extension').some(({ url }) => OPTIONS_BY_EXPRESSION.test(String(url))))
    return
  if (isObject(run.root.value) && run.root.value['derivedFrom'] !== undefined) return
  run.findings.report(QUESTIONNAIRE_OPTIONS, node, {
    text: `A question of type ${quoted(type)} needs options (answerOption) or a value set of them (answerValueSet).`,
    severity: type === 'open-choice' || bestPractice === 'information' ? 'information' : 'warning',
  })
}

function isAfter(question: FormItem | undefined, { item, order }: { item: FormItem; order: ReadonlyMap<FormItem, number> }): boolean {
  return question !== undefined && (order.get(question) ?? 0) > (order.get(item) ?? 0)
}

function checkInitial(run: Run, node: FhirNode, item: FormItem): void {
  for (const initial of childrenOf(run, node, 'initial')) {
    const [value] = childrenOf(run, initial, 'value')
    const text = value === undefined ? undefined : typeProblem(value, item)
    if (value !== undefined && text !== undefined) run.findings.report(ANSWER_TYPE, value, { text })
  }
}

function conditionProblem(item: FormItem, linkId: string | undefined, byLinkId: ReadonlyMap<string, FormItem>): string | undefined {
  if (linkId === undefined) return 'The condition does not say to which question it refers.'
  const question = byLinkId.get(linkId)
  if (question === undefined) return `The condition refers to the question ${quoted(linkId)}, which the questionnaire does not have.`
  if (question === item) return `The condition refers to the item ${quoted(linkId)} itself.`
  if (isWithin(question, item))
    return `The condition refers to the question ${quoted(linkId)}, which is inside the item and so can only be answered when the condition is met.`
  return undefined
}

function isWithin(item: FormItem, outer: FormItem): boolean {
  for (let current = item.parent; current !== undefined; current = current.parent) if (current === outer) return true
  return false
}

const TOOLS = 'http://hl7.org/fhir/tools/StructureDefinition/'

/** Parameters of `$expand` and `$validate-code`, which apply to every value set. */
const STANDARD: ReadonlySet<unknown> = new Set(
  (
    'abstract activeOnly check-system-version check-valueset-version context contextDirection count date default-valueset-version designation ' +
    'displayLanguage exclude-system excludeNested excludeNotForUI excludePostCoordinated filter filterProperty force-system-version ' +
    'force-valueset-version includeDefinition includeDesignations inferSystem lenient-display-validation manifest offset property system-version ' +
    'useSupplement valueset-membership-only'
  ).split(' '),
)

/** Checks that an item states the parameters that the value set of its answers declares, and no others. */
function checkBindingParameters(run: Run, item: FhirNode): void {
  const [valueSet] = childrenOf(run, item, 'answerValueSet')
  const definition = typeof valueSet?.value === 'string' ? run.definitions.definition('ValueSet', valueSet.value) : undefined
  if (definition === undefined || definition === PENDING) return
  const declared = namesOn(definition, 'valueset-parameter')
  if (declared.length === 0) return
  const given = namesOn(valueSet?.extra, 'binding-parameter')
  const say = (text: string, severity: 'error' | 'warning'): void => run.findings.report(QUESTIONNAIRE_PARAMETER, item, { text, severity })
  for (const name of declared.filter((one) => !given.includes(one)))
    say(`The parameter ${quoted(name)} of the value set is missing.`, 'error')
  for (const name of given.filter((one) => !declared.includes(one) && !STANDARD.has(one)))
    say(`${quoted(name)} is not a parameter of the value set.`, 'warning')
}

function namesOn(holder: JsonObject | undefined, name: string): readonly string[] {
  const extensions = objectsAt(holder, 'extension').filter(({ url }) => url === TOOLS + name)
  return extensions.flatMap((extension) => {
    const value = extensionValues(extension, 'name')[0]
    return typeof value === 'string' ? [value] : []
  })
}

const DERIVATION_TYPE = 'http://hl7.org/fhir/StructureDefinition/questionnaire-derivationType'
const DERIVATIONS = 'http://hl7.org/fhir/questionnaire-derivationType'

/** Checks that the questionnaires that a Questionnaire is derived from are known, with the type of derivation, and that its items conform to them. */
function checkDerivedFrom(run: Run, node: FhirNode): void {
  for (const base of childrenOf(run, node, 'derivedFrom')) {
    if (typeof base.value !== 'string' || base.value.startsWith('#')) continue
    const found = run.definitions.definition('Questionnaire', base.value)
    if (found === PENDING) continue
    const { mode, at } = derivationOf(run, base)
    const fault = FAULTS.get(mode)
    if (found === undefined) report(run, base, { at: base, fault: 'could not be found' })
    else if (fault !== undefined) report(run, base, { at, fault, ...(mode === 'inspiredBy' && { severity: 'information' }) })
    else checkDerivedItems(run, node, { form: readForm(base.value, found), isExtended: mode === 'extends' })
  }
}

/** Why a derivation from a known questionnaire is not checked, by type of derivation. */
const FAULTS: ReadonlyMap<string, string> = new Map([
  ['', 'has no derivation type'],
  ['unknown', 'has an unknown derivation type'],
  ['inspiredBy', 'is only an inspiration (inspiredBy)'],
])

/** The type of a derivation, and the node that states it: the extension, or its value. */
interface Derivation {
  readonly mode: string
  readonly at: FhirNode
}

function derivationOf(run: Run, base: FhirNode): Derivation {
  const extension = childrenOf(run, base, 'extension').find((one) => textOf(one, 'url') === DERIVATION_TYPE)
  if (extension === undefined) return { mode: '', at: base }
  const [value] = childrenOf(run, extension, 'value')
  return isObject(value?.value) ? { mode: knownMode(value.value), at: value } : { mode: '', at: extension }
}

function knownMode(coding: JsonObject): string {
  const code = stringAt(coding, 'code') ?? ''
  return coding['system'] === DERIVATIONS && ['extends', 'compliesWith', 'inspiredBy'].includes(code) ? code : 'unknown'
}

interface Unchecked {
  readonly at: FhirNode
  readonly fault: string
  readonly severity?: 'information'
}

function report(run: Run, base: FhirNode, { at, fault, severity }: Unchecked): void {
  run.findings.report(QUESTIONNAIRE_DERIVED_FROM, at, {
    text: `The questionnaire ${quoted(shownJson(base.value))} ${fault}, so the derivation is not checked.`,
    ...(severity !== undefined && { severity }),
  })
}

/** A questionnaire that another is derived from. */
interface Origin {
  readonly form: Form
  /** True when the derived questionnaire may have items of its own. */
  readonly isExtended: boolean
}

/** Checks that items conform to the items of the base questionnaire with the same linkId: type, number, length and answers. */
function checkDerivedItems(run: Run, parent: FhirNode, origin: Origin): void {
  for (const item of childrenOf(run, parent, 'item')) {
    run.scheduler.step()
    const linkId = textOf(item, 'linkId') ?? ''
    const original = origin.form.byLinkId.get(linkId)
    if (original !== undefined) checkItem(run, item, original)
    else if (!origin.isExtended)
      run.findings.report(QUESTIONNAIRE_DERIVED_ITEM, item, {
        text: `The base questionnaire has no item ${quoted(linkId)}.`,
        code: 'not-found',
      })
    checkDerivedItems(run, item, origin)
  }
}

function checkItem(run: Run, item: FhirNode, original: FormItem): void {
  const say = (node: FhirNode, what: string): void =>
    run.findings.report(QUESTIONNAIRE_DERIVED_ITEM, node, { text: `${what} in the base questionnaire.` })
  for (const { name, isBroken, what } of KEPT) {
    for (const member of childrenOf(run, item, name)) if (isBroken(member.value, original)) say(member, what)
  }
  const { maxLength } = original.json
  if (maxLength !== undefined && childrenOf(run, item, 'maxLength').length === 0) say(item, 'The answer has a maximum length')
  checkDefinition(run, item, original)
  checkAnswers(run, item, { original: original.json, say })
}

function checkDefinition(run: Run, item: FhirNode, { json }: FormItem): void {
  const definition = stringAt(json, 'definition')
  if (definition === undefined) return
  const [own] = childrenOf(run, item, 'definition')
  if (own?.value === definition) return
  const text =
    own === undefined
      ? `The item has the definition ${quoted(definition)} in the base questionnaire, which should be repeated.`
      : `The item has another definition, ${quoted(definition)}, in the base questionnaire.`
  run.findings.report(QUESTIONNAIRE_DERIVED_ITEM, own ?? item, { text, severity: 'information' })
}

/** Members that must not differ from the base questionnaire. */
const KEPT: readonly { name: string; isBroken: (value: unknown, original: FormItem) => boolean; what: string }[] = [
  { name: 'type', isBroken: (type, original) => type !== original.type, what: 'The type is different' },
  { name: 'repeats', isBroken: (repeats, original) => repeats === true && !original.repeats, what: 'The item does not repeat' },
  { name: 'required', isBroken: (required, original) => required === false && original.required, what: 'The item is required' },
  {
    name: 'maxLength',
    isBroken: (length, { json: { maxLength } }) => Number(shownJson(length)) > Number(shownJson(maxLength)),
    what: 'The answer is shorter',
  },
]

interface OriginalAnswers {
  readonly original: JsonObject
  readonly say: (node: FhirNode, what: string) => void
}

function checkAnswers(run: Run, item: FhirNode, { original, say }: OriginalAnswers): void {
  const own = childrenOf(run, item, 'answerOption')
  const options = objectsAt(original, 'answerOption')
  if (stringAt(original, 'answerValueSet') !== undefined && own.length > 0) say(item, 'The answers are from a value set')
  if (options.length === 0) return
  if (textOf(item, 'answerValueSet') !== undefined) say(item, 'The answers are options')
  else if (own.length === 0) say(item, 'There are options')
  for (const option of own) {
    const [value] = childrenOf(run, option, 'value')
    if (value !== undefined && !options.some((one) => isSame(value, one))) say(option, 'There is no such option')
  }
}

function isSame(value: FhirNode, option: JsonObject): boolean {
  const expected = typedMember(option, 'value')
  return expected !== undefined && sameAnswer(value, expected)
}
