import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { sameAnswer, typedMember } from './answer-value.js'
import type { Form, FormItem } from './form.js'

/** A questionnaire from which another derives. */
export interface Origin {
  readonly form: Form
  /** True when the other may have items of its own. */
  readonly isExtended: boolean
}

/** Checks that the items of a questionnaire keep what those of its origin with the same linkId say: type, number, length and answers. */
export function checkDerivedItems(run: Run, parent: FhirNode, origin: Origin): void {
  for (const item of childrenOf(run, parent, 'item')) {
    run.step()
    const linkId = textOf(item, 'linkId') ?? ''
    const original = origin.form.byLinkId.get(linkId)
    if (original !== undefined) checkItem(run, item, original)
    else if (!origin.isExtended)
      run.sink.report('questionnaire-derived-item', item, {
        text: `The questionnaire that this derives from has no item ${quoted(linkId)}.`,
        code: 'not-found',
      })
    checkDerivedItems(run, item, origin)
  }
}

function checkItem(run: Run, item: FhirNode, original: FormItem): void {
  const say = (node: FhirNode, what: string): void =>
    run.sink.report('questionnaire-derived-item', node, { text: `${what} in the questionnaire that this derives from.` })
  for (const { name, isBroken, what } of KEPT) {
    for (const member of childrenOf(run, item, name)) if (isBroken(member.value, original)) say(member, what)
  }
  const { maxLength } = original.json
  if (maxLength !== undefined && childrenOf(run, item, 'maxLength').length === 0) say(item, 'The answer has a greatest length')
  checkAnswers(run, item, { original: original.json, say })
}

/** What cannot be otherwise than in the origin. */
const KEPT: readonly { name: string; isBroken: (value: unknown, original: FormItem) => boolean; what: string }[] = [
  { name: 'type', isBroken: (type, original) => type !== original.type, what: 'The type is another' },
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
  if (stringAt(original, 'answerValueSet') !== undefined && own.length > 0) say(item, 'The answers come from a value set')
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
