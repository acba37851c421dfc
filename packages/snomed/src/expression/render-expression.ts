import type { Expression, ExpressionAttribute } from './expression.js'

/** How a concept is named in an expression. */
export type ConceptNames = (concept: number) => { readonly id: string; readonly term: string }

/** Writes an expression with terms and without blanks, in the grouping in which it was given. */
export function renderExpression({ foci, ungrouped, groups }: Expression, nameOf: ConceptNames): string {
  const concept = (ordinal: number): string => {
    const { id, term } = nameOf(ordinal)
    return `${id}|${term}|`
  }
  const attribute = ({ type, value }: ExpressionAttribute): string =>
    `${concept(type)}=${typeof value === 'number' ? concept(value) : value}`
  const parts = [...ungrouped.map(attribute), ...groups.map((group) => `{${group.map(attribute).join(',')}}`)]
  const focus = foci.map(concept).join('+')
  return parts.length === 0 ? focus : `${focus}:${parts.join(',')}`
}
