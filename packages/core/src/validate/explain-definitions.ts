import { quoted } from '../errors/index.js'
import type { Explain, ExplanationStep } from '../explain/index.js'
import { PENDING, type Pending } from '../fhirpath/index.js'
import type { Definitions } from './run/definitions.js'

/**
 * The same definitions, which write down each profile and value set that the resource is checked against, and those that are not known, once. What
 * the types of FHIR themselves say of values that are right is decided without asking.
 */
export function explainedDefinitions(definitions: Definitions, explain: Explain | undefined): Definitions {
  if (explain === undefined) return definitions
  const named = new Set<string>()
  const noted = <T extends { readonly canonical: string }>(
    kind: ExplanationStep['kind'],
    asked: string,
    answer: T | undefined | Pending,
  ): T | undefined | Pending => {
    if (answer !== PENDING && !named.has(`${kind} ${asked}`)) {
      named.add(`${kind} ${asked}`)
      explain.step(stepOf(kind, asked, answer?.canonical))
    }
    return answer
  }
  return {
    ...definitions,
    profile: (canonical) => noted('profile', canonical, definitions.profile(canonical)),
    valueSet: (canonical) => noted('value-set', canonical, definitions.valueSet(canonical)),
    baseValueSet: (canonical) => noted('value-set', canonical, definitions.baseValueSet(canonical)),
  }
}

function stepOf(kind: ExplanationStep['kind'], asked: string, found: string | undefined): ExplanationStep {
  const what = kind === 'profile' ? 'profile' : 'value set'
  if (found === undefined) return { kind, outcome: 'unknown', definition: asked, text: `The ${what} ${quoted(asked)} is not known.` }
  const isNamed = found === asked
  const why = isNamed ? '' : `: it is the newest of ${quoted(asked)} that is not retired`
  return {
    kind,
    outcome: 'chosen',
    reason: isNamed ? 'request' : 'newest',
    definition: found,
    text: `The ${what} ${quoted(found)} was used${why}.`,
  }
}
