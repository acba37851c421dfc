import { defineFinding, type FindingDefinition } from '../../run/finding.js'

/** A constraint of a type or profile that an element does not meet. */
export const INVARIANT: FindingDefinition = defineFinding(
  'invariant',
  'error',
  'invariant',
  'Change the elements that the constraint is about so that it is met.',
)
