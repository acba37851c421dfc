import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { sameAnswer, typedMember } from './enablement.js'
import { readForm, type Form, type FormItem } from './form.js'

/** A base questionnaire that is unknown or cannot be used. */
export const QUESTIONNAIRE_DERIVED_FROM: FindingDefinition = defineFinding(
  'questionnaire-derived-from',
  'warning',
  'business-rule',
  'Load the questionnaire that this one is derived from.',
)
/** An item that differs from the base questionnaire in a way that its derivation does not allow. */
export const QUESTIONNAIRE_DERIVED_ITEM: FindingDefinition = defineFinding(
  'questionnaire-derived-item',
  'error',
  'business-rule',
  'Keep what the base questionnaire defines for the item.',
)

const DERIVATION_TYPE = 'http://hl7.org/fhir/StructureDefinition/questionnaire-derivationType'
const DERIVATIONS = 'http://hl7.org/fhir/questionnaire-derivationType'

/** Checks that the questionnaires that a Questionnaire is derived from are known, with the type of derivation, and that its items conform to them. */
export function checkDerivedFrom(run: Run, node: FhirNode): void {
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
    text: `The questionnaire ${quoted(String(base.value))} ${fault}, so the derivation is not checked.`,
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
  { name: 'maxLength', isBroken: (length, { json: { maxLength } }) => Number(length) > Number(maxLength), what: 'The answer is shorter' },
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
