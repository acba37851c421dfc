import { quoted } from '../../../errors/index.js'
import { isObject } from '../../../json/index.js'
import { numberTextOf } from '../../walk/number-text.js'
import { compareValues, decimalPlaces } from '../value/check-limits.js'
import { hasForm } from '../value/has-form.js'
import type { ValuedAnswer } from './check-answer.js'
import type { ResponseCheck } from './check-response.js'
import { childrenOf } from '../../walk/children.js'
import { extensionValues } from '../../profile/extension-value.js'

const BASE = 'http://hl7.org/fhir/StructureDefinition/'

/** Checks the length, form, size and precision that an item demands of its answers. */
export function checkAnswerLimits(check: ResponseCheck, { value, item }: ValuedAnswer): void {
  const limit = (name: string): unknown => extensionValues(item.json, BASE + name)[0]
  const say = (text: string | undefined): void => {
    if (text !== undefined) check.run.sink.report('answer-limit', value, { text, profile: check.form.canonical })
  }
  if (typeof value.value === 'string') {
    say(lengthProblem(value.value, { min: limit('minLength'), max: item.json['maxLength'] }))
    say(formProblem(value.value, limit('regex')))
  }
  if (item.type === 'string' && typeof value.value === 'string' && /[\r\n]/.test(value.value))
    check.run.sink.report('answer-limit', value, {
      text: 'The answer should be a single line.',
      severity: 'warning',
      profile: check.form.canonical,
    })
  say(placesProblem(check, value, limit('maxDecimalPlaces')))
  if (isObject(value.value)) return
  say(rangeProblem(value.value, { min: limit('minValue'), max: limit('maxValue') }))
}

interface Range {
  readonly min: unknown
  readonly max: unknown
}

function lengthProblem(text: string, { min, max }: Range): string | undefined {
  if (typeof max === 'number' && text.length > max) return `The answer has ${text.length} characters, but at most ${max} are allowed.`
  if (typeof min === 'number' && text.length < min) return `The answer has ${text.length} characters, but at least ${min} are needed.`
  return undefined
}

function formProblem(text: string, pattern: unknown): string | undefined {
  return typeof pattern !== 'string' || hasForm(text, pattern) ? undefined : `The answer does not have the form ${quoted(pattern)}.`
}

function placesProblem({ run }: ResponseCheck, value: ValuedAnswer['value'], max: unknown): string | undefined {
  if (typeof max !== 'number') return undefined
  const node = value.type.name === 'Quantity' ? childrenOf(run, value, 'value')[0] : value
  if (node === undefined || typeof node.value !== 'number') return undefined
  const text = numberTextOf(run, node, node.value)
  return decimalPlaces(text) > max ? `The number ${text} has more than ${max} decimal places.` : undefined
}

function rangeProblem(value: unknown, { min, max }: Range): string | undefined {
  if (isScalar(min) && (compareValues(value, min) ?? 0) < 0)
    return `The answer ${String(value)} is less than ${min}, the least that is allowed.`
  if (isScalar(max) && (compareValues(value, max) ?? 0) > 0)
    return `The answer ${String(value)} is more than ${max}, the most that is allowed.`
  return undefined
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
