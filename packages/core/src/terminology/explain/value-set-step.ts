import { quoted } from '../../errors/index.js'
import type { ExplanationReason, ExplanationStep } from '../../explain/index.js'
import { canonicalOf } from '../../content/index.js'
import { nameOf, type ValueSetDefinition } from '../value-set/value-set.js'

/** How a request named the value set that was found. */
export interface NamedAs {
  readonly valueSet?: object | undefined
  readonly url?: string | undefined
  readonly valueSetVersion?: string | undefined
}

/** Which value set was used, and why. */
export function valueSetStep(found: ValueSetDefinition, { valueSet, url = '', valueSetVersion }: NamedAs): ExplanationStep {
  const named = valueSet !== undefined || (canonicalOf(url).version ?? valueSetVersion) !== undefined
  const reason: ExplanationReason = named ? 'request' : 'newest'
  const because = named ? 'the request names it' : 'it is the newest of its url that is not retired'
  return {
    kind: 'value-set',
    outcome: 'chosen',
    reason,
    ...(found.canonical !== undefined && { definition: found.canonical }),
    text: `The value set ${quoted(nameOf(found))} was used: ${because}.`,
  }
}
