import type { FhirNode } from '../../../fhirpath/index.js'
import { checkAttachmentLimits } from './answer-attachment.js'
import { checkAnswerLimits } from './answer-limits.js'
import { checkOptions } from './answer-options.js'
import { checkQuantity } from './answer-quantity.js'
import { checkTarget } from './answer-target.js'
import type { ResponseCheck } from './check-response.js'
import type { FormItem } from './form.js'
import type { Answer } from './response.js'

const CHOICES = ['Coding', 'date', 'time', 'integer', 'string', 'Reference']

/** The types that the answers to a type of item have. What is not listed is not checked. */
const TYPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['boolean', ['boolean']],
  ['decimal', ['decimal']],
  ['integer', ['integer']],
  ['date', ['date']],
  ['dateTime', ['dateTime']],
  ['time', ['time']],
  ['string', ['string']],
  ['text', ['string']],
  ['url', ['uri']],
  ['choice', CHOICES],
  ['open-choice', CHOICES],
  ['attachment', ['Attachment']],
  ['reference', ['Reference']],
  ['quantity', ['Quantity']],
])

/** An answer with a value of the right type. */
export interface ValuedAnswer {
  readonly answer: Answer
  readonly value: NonNullable<Answer['value']>
  readonly item: FormItem
}

/** Checks the value of one answer. */
export function checkAnswer(check: ResponseCheck, answer: Answer, item: FormItem): void {
  const { value } = answer
  if (value === undefined || value.value === undefined) return
  const text = typeProblem(value, item)
  if (text !== undefined) {
    check.run.sink.report('answer-type', value, { text, profile: check.form.canonical })
    return
  }
  const valued = { answer, value, item }
  for (const rule of RULES) rule(check, valued)
}

/** What is wrong with the type of an answer, or of an initial value, to an item. */
export function typeProblem({ type }: FhirNode, item: FormItem): string | undefined {
  const types = TYPES.get(item.type)
  if (types === undefined || types.includes(type.name)) return undefined
  return `The answer must be of type ${types.join(' or ')}, not ${type.name}.`
}

const RULES: readonly ((check: ResponseCheck, valued: ValuedAnswer) => void)[] = [
  checkAnswerLimits,
  checkQuantity,
  checkAttachmentLimits,
  checkTarget,
  checkOptions,
]
