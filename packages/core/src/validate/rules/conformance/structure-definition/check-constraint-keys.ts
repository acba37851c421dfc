import { quoted } from '../../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../../fhirpath/index.js'
import { formatCanonical } from '../../../../content/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import { rootsOf } from '../../../walk/profile-roots.js'
import type { Run } from '../../../walk/run.js'
import { corrected } from '../../constraint/corrections.js'
import type { DifferentialCheck, ElementCheck } from './check-elements.js'

/** Checks that a differential gives constraints of its own, and that a key always stands for the same one. */
export function checkConstraintKeys({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const url = textOf(definition, 'url') ?? ''
  const own = new Set<string | undefined>([undefined, url, formatCanonical(url, textOf(definition, 'version'))])
  const known = inheritedKeys(run, definition)
  for (const constraint of elements.flatMap(({ node }) => childrenOf(run, node, 'constraint'))) {
    const [key, expression, source] = ['key', 'expression', 'source'].map((name) => textOf(constraint, name))
    const say = (text: string): void => run.sink.report('definition-expression', constraint, { text })
    if (!own.has(source)) say(`The constraint is said to be from ${quoted(source ?? '')}, so it does not belong into this differential.`)
    if (key === undefined || expression === undefined) continue
    if ((known.get(key) ?? expression) !== expression && known.get(key) !== corrected(expression))
      say(`The key ${quoted(key)} stands for another constraint already.`)
    else known.set(key, expression)
  }
}

/** Expressions by key. */
function inheritedKeys(run: Run, definition: FhirNode): Map<string, string> {
  const base = textOf(definition, 'baseDefinition')
  const profile = base === undefined ? undefined : run.facts.profile(base)
  const roots = profile === undefined || profile === PENDING ? [] : rootsOf(run, profile)
  const keys = new Map<string, string>()
  for (const { profile: canonical } of roots) {
    const found = run.facts.profile(canonical)
    if (found === undefined || found === PENDING) continue
    for (const { constraints } of found.elements.values()) for (const { key, expression } of constraints) keys.set(key, expression)
  }
  return keys
}
