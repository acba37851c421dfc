import { quoted } from '../../../errors/index.js'
import { referenceOf } from '../reference/resolve-locally.js'
import { isConcrete } from '../structure/check-resource-type.js'
import { extensionValues } from '../../profile/extension-value.js'
import type { ValuedAnswer } from './check-answer.js'
import type { ResponseCheck } from './check-response.js'

const RESOURCE_TYPE = 'http://hl7.org/fhir/StructureDefinition/questionnaire-referenceResource'
const TYPED = /(?:^|\/)([A-Z][A-Za-z]{1,63})\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/

/** Checks that a reference leads to a type of resource, and to one that the item allows, where its form tells the type. */
export function checkTarget({ run, form }: ResponseCheck, { value, item }: ValuedAnswer): void {
  if (value.type.name !== 'Reference') return
  const allowed = extensionValues(item.json, RESOURCE_TYPE)
  const type = TYPED.exec(referenceOf(value) ?? '')?.[1]
  if (type === undefined) return
  const text = isConcrete(run.model, type)
    ? notAllowed(type, allowed)
    : `The answer refers to ${quoted(type)}, which is not a type of resource.`
  if (text !== undefined) run.sink.report('answer-target', value, { text, profile: form.canonical })
}

function notAllowed(type: string, allowed: readonly unknown[]): string | undefined {
  if (allowed.length === 0 || allowed.includes(type)) return undefined
  return `The answer refers to ${quoted(type)}; allowed: ${allowed.join(', ')}.`
}
