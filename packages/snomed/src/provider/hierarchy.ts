import { and, bitmapFrom, or, type Bitmap } from 'fhir-ops/bits'
import type { Hierarchy } from 'fhir-ops/code-system'
import { finished } from 'fhir-ops/work'
import { tested } from '../evaluate/ecl-scope.js'
import { normalFormOf, type NormalForm } from '../expression/normal-form.js'
import { isBelowConcept, isBelowExpression } from '../expression/subsumption.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import type { ExpressionTable } from './expression-table.js'

/**
 * The hierarchy of concepts and expressions. It is not a tree, so expansions of it are not nested. The parents and children of an expression
 * are those of its foci, as no classifier places it.
 */
export function snomedHierarchy(index: SnomedIndex, expressions: ExpressionTable): Hierarchy {
  const fociOf = (concept: number): readonly number[] => expressions.get(concept)?.expression.foci ?? [concept]
  const formOf = (concept: number): NormalForm => expressions.get(concept)?.form ?? normalFormOf(index, concept)
  const isWithin = (concept: number, ancestor: number): boolean => {
    const above = expressions.get(ancestor)
    if (concept === ancestor) return true
    if (above !== undefined) return isBelowExpression(index, formOf(concept), above.expression)
    return expressions.get(concept) === undefined ? index.isWithin(concept, ancestor) : isBelowConcept(index, formOf(concept), ancestor)
  }
  const above = (concept: number): Bitmap =>
    fociOf(concept)
      .map((focus) => bitmapFrom([focus, ...index.ancestors(focus)], index.size))
      .reduce(or)
  return {
    nested: false,
    parents: (concept) => fociOf(concept).flatMap((focus) => [...index.parents(focus)]),
    children: (concept) => fociOf(concept).flatMap((focus) => [...index.children(focus)]),
    isWithin,
    within(ancestor) {
      if (expressions.get(ancestor) === undefined) return index.within(ancestor)
      const candidates = fociOf(ancestor)
        .map((focus) => index.within(focus))
        .reduce(and)
      return finished(tested(candidates, (concept) => isWithin(concept, ancestor)))
    },
    above,
  }
}
