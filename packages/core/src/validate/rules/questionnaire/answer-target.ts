import { quoted } from '../../../errors/index.js'
import { referenceOf } from '../reference/resolve-locally.js'
import { extensionValues } from './answer-value.js'
import type { ValuedAnswer } from './check-answer.js'
import type { ResponseCheck } from './check-response.js'

const RESOURCE_TYPE = 'http://hl7.org/fhir/StructureDefinition/questionnaire-referenceResource'
const TYPED = /(?:^|\/)([A-Z][A-Za-z]{1,63})\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/

/** Checks that a reference leads to a type that the item allows, where its form tells the type. */
export function checkTarget(check: ResponseCheck, { value, item }: ValuedAnswer): void {
  if (value.type.name !== 'Reference') return
  const allowed = extensionValues(item.json, RESOURCE_TYPE).map((one) => one.value)
  const type = TYPED.exec(referenceOf(value) ?? '')?.[1]
  if (type === undefined || allowed.length === 0 || allowed.includes(type)) return
  check.run.sink.report('answer-target', value, {
    text: `The answer refers to ${quoted(type)}; allowed: ${allowed.join(', ')}.`,
    profile: check.form.canonical,
  })
}
