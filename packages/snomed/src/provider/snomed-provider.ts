import type { JsonObject } from 'fhir-ops/json'
import { CONCEPT_PROPERTIES } from 'fhir-ops/terminology'
import type { CodeGrammar, CodeSystemProvider, ConceptText, Filter, SystemHeader } from 'fhir-ops/code-system'
import { renderExpression } from '../expression/render-expression.js'
import type { SnomedSystem } from '../open-snomed.js'
import { SNOMED } from '../sctid.js'
import { snomedConceptIndex } from './concept-index.js'
import { expressionTable, type ExpressionTable, type KnownExpression } from './expression-table.js'
import { snomedFilter, takesInactive } from './filter.js'
import { snomedHierarchy } from './hierarchy.js'
import { propertiesOf } from './properties.js'
import { designationsOf, displayDialect, displayTerm, type DisplayDialect } from './texts.js'

/** The provider over an opened version, for one request: it keeps the expressions that the request uses. */
export function snomedProvider(system: SnomedSystem): CodeSystemProvider {
  const { index } = system
  const expressions = expressionTable(index)
  const dialect = displayDialect(index)
  return {
    header: headerOf(system, dialect),
    supplements: [],
    find: (code) => index.ids.find(code) ?? expressions.find(code),
    code: (concept) => expressions.get(concept)?.code ?? index.id(concept),
    sources(concept) {
      const expression = expressions.get(concept)
      return [{ concept: expression === undefined ? system.element(concept) : expressionElement(system, expression, dialect) }]
    },
    designations: (concept): readonly ConceptText[] => (expressions.get(concept) === undefined ? designationsOf(index, concept) : []),
    status(concept) {
      const isActive = expressions.get(concept) !== undefined || index.isActive(concept)
      return isActive ? ACTIVE : INACTIVE
    },
    hierarchy: snomedHierarchy(index, expressions),
    index: snomedConceptIndex(index, expressions),
    filter: (filter) => snomedFilter({ system, expressions }, filter),
    takesInactive,
    grammar: snomedGrammar(expressions),
  }
}

const ACTIVE = { inactive: false, abstract: false } as const
const INACTIVE = { inactive: true, abstract: false, status: 'inactive' } as const

function headerOf({ index }: SnomedSystem, { tag }: DisplayDialect): SystemHeader {
  const language = tag?.split('-')[0]
  return {
    url: SNOMED,
    version: index.header.version,
    status: 'active',
    experimental: false,
    complete: true,
    caseSensitive: true,
    versionNeeded: false,
    propertiesAreConcepts: true,
    namedProperties: NAMED,
    missingProperties: MISSING,
    properties: new Map([
      ['inactive', `${CONCEPT_PROPERTIES}#inactive`],
      ['module', undefined],
      ['moduleId', undefined],
      ['sufficientlyDefined', undefined],
      ['effectiveTime', undefined],
    ]),
    ...(language !== undefined && { language }),
    ...(tag !== undefined && { dialect: tag }),
  }
}

/** R4's names for what a lookup returns anyway, and for the definition status. @see https://hl7.org/fhir/R4/snomedct.html#props */
const NAMED: ReadonlySet<string> = new Set(['moduleId', 'sufficientlyDefined'])
const MISSING: ReadonlySet<string> = new Set(['normalForm', 'normalFormTerse'])

function expressionElement({ index }: SnomedSystem, { code, expression, form }: KnownExpression, dialect: DisplayDialect): JsonObject {
  return {
    code,
    get display() {
      return renderExpression(expression, (concept) => ({ id: index.id(concept), term: displayTerm(index, concept, dialect) }))
    },
    get property() {
      return propertiesOf(index, expression.foci[0] ?? 0, form.range)
    },
  }
}

/** True for a filter that no expression satisfies: expressions are active, and no members of reference sets. */
function isOfConceptsAlone({ property, op, value }: Filter): boolean {
  if (op === '=') return (property === 'inactive' && value === 'true') || (property === 'expressions' && value === 'false')
  return op === 'in' && (property === 'concept' || property === 'code')
}

/** Filters by which an include takes expressions. */
function snomedGrammar(expressions: ExpressionTable): CodeGrammar {
  return {
    isMade: (concept) => expressions.get(concept) !== undefined,
    isUsed: () => expressions.isUsed(),
    admits: (filters) =>
      filters.length === 0 ||
      filters.some(({ property, value }) => property === 'constraint' || (property === 'expressions' && value === 'true')),
    mayExtend: (filters) => !filters.some(isOfConceptsAlone),
    note: 'The expression is grammatically correct and the concepts are valid, but the expression has not been checked against the SNOMED CT concept model (MRCM)',
    whyNot(code) {
      const reason = expressions.whyNot(code)
      return reason === undefined ? undefined : `Not a valid expression: ${reason}`
    },
  }
}
