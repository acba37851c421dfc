import { childOf } from './child-of.js'
import { descendentLeaf } from './descendent-leaf.js'
import { descendentOf } from './descendent-of.js'
import { equals } from './equals.js'
import { exists } from './exists.js'
import { generalizes } from './generalizes.js'
import { isIn } from './in.js'
import { isA } from './is-a.js'
import { isNotA } from './is-not-a.js'
import { notIn } from './not-in.js'
import type { FilterOperator } from './operator.js'
import { regex } from './regex.js'

/** Every filter operator by its code. @see https://hl7.org/fhir/R4/valueset-filter-operator.html */
export const FILTER_OPERATORS: ReadonlyMap<string, FilterOperator> = new Map([
  ['=', equals],
  ['is-a', isA],
  ['descendent-of', descendentOf],
  ['is-not-a', isNotA],
  ['regex', regex],
  ['in', isIn],
  ['not-in', notIn],
  ['generalizes', generalizes],
  ['exists', exists],
  ['child-of', childOf],
  ['descendent-leaf', descendentLeaf],
])
