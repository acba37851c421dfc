import { defineFinding, type FindingDefinition } from '../../run/finding.js'
export const INVARIANT: FindingDefinition = defineFinding(
  'invariant',
  'error',
  'invariant',
  'Change the elements that the constraint is about so that it is met.',
)
