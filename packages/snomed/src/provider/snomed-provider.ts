import type { JsonObject } from 'fhir-ops/internal/json'
import { CONCEPT_PROPERTIES, foldTerm, placeOfWord, type ConceptText, type FilterWord } from 'fhir-ops/internal/terminology'
import { type CodeSystemProvider, type Filter, and, bitmapFrom, or, type Bitmap } from 'fhir-ops/terminology'
import type { CodeGrammar, SystemHeader, Hierarchy, ConceptIndex } from 'fhir-ops/internal/code-system'
import {
  renderExpression,
  expressionForm,
  normalFormOf,
  type NormalForm,
  isBelowConcept,
  isBelowExpression,
} from '../expression/expression.js'
import type { SnomedSystem } from '../open-snomed.js'
import { SCT, SNOMED } from '../sctid.js'
import { expressionTable, snomedFilter, takesInactive, type ExpressionTable, type KnownExpression } from './filter.js'
import { dateOf, normalForms, propertiesOf } from './concept-element.js'
import { designationsOf, displayDialect, displayTerm, type DisplayDialect } from './texts.js'
import { rangeBitmap } from 'fhir-ops/internal/bits'
import { finished } from 'fhir-ops/internal/work'
import { tested } from '../evaluate/ecl-scope.js'
import type { SnomedIndex } from '../release/snomed-index.js'

/** Creates the provider of an opened version for one request, whose expressions it remembers. */
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
    get missingProperties() {
      return hasRelationships(index) ? undefined : NORMAL_FORMS
    },
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

/** R4's names for properties that a lookup returns anyway, and for the definition status. @see https://hl7.org/fhir/R4/snomedct.html#props */
const NAMED: ReadonlySet<string> = new Set(['moduleId', 'sufficientlyDefined', 'normalForm', 'normalFormTerse'])
const NORMAL_FORMS: ReadonlySet<string> = new Set(['normalForm', 'normalFormTerse'])

/** True unless the version was imported without relationships, from which normal forms are made. */
function hasRelationships(index: SnomedIndex): boolean {
  const root = index.ids.find(SCT.root)
  return root !== undefined && index.children(root).length > 0
}

function expressionElement({ index }: SnomedSystem, { code, expression, form }: KnownExpression, dialect: DisplayDialect): JsonObject {
  return {
    code,
    get display() {
      return renderExpression(expression, (concept) => ({ id: index.id(concept), term: displayTerm(index, concept, dialect) }))
    },
    get property() {
      const forms = normalForms(index, dialect, () => expressionForm(index, form))
      return [...propertiesOf(index, expression.foci[0] ?? 0, form.range), ...forms]
    },
  }
}

/** True for a filter that no expression meets: expressions are active, and not members of reference sets. */
function isOfConceptsAlone({ property, op, value }: Filter): boolean {
  if (op === '=') return (property === 'inactive' && value === 'true') || (property === 'expressions' && value === 'false')
  return op === 'in' && (property === 'concept' || property === 'code')
}

/** The grammar of expressions, and the filters with which an include accepts them. */
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

/**
 * The hierarchy of concepts and expressions. It is not a tree, so its expansions are not nested. The parents and children of an expression
 * are those of its foci, because no classifier determines its place.
 */
function snomedHierarchy(index: SnomedIndex, expressions: ExpressionTable): Hierarchy {
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

/** Index of sets over all concepts of a version. Its size includes the expressions of the request, so that lists can contain them. */
function snomedConceptIndex(index: SnomedIndex, expressions: ExpressionTable): ConceptIndex {
  const dialect = displayDialect(index)
  return {
    get size() {
      return index.size + expressions.count
    },
    all: () => index.all(),
    inactive: () => index.inactive(),
    values: (property) => column(index, property),
    withWord: (word) => withCode(index, word, withTerm(index, word)),
    words: (start) => index.words.beginningWith(start),
    displayOrder: () => index.displayOrder((concept) => foldTerm(displayTerm(index, concept, dialect))),
  }
}

function withTerm(index: SnomedIndex, word: FilterWord): Bitmap {
  const found = index.words.startingWith(word.start)
  if (!word.verbatim) return found
  const hasWord = (concept: number): boolean =>
    designationsOf(index, concept).some(({ value, outdated }) => outdated === undefined && placeOfWord(foldTerm(value), word.text) >= 0)
  return finished(tested(found, hasWord))
}

/** Adds the concepts whose code begins with the word to those that have it in a term. */
function withCode(index: SnomedIndex, { text }: FilterWord, found: Bitmap): Bitmap {
  const ranges = index.ids.startingWith(text)
  return ranges.map(([start, end]) => rangeBitmap(start, end, index.size)).reduce(or, found)
}

const COLUMNS: ReadonlyMap<string, (index: SnomedIndex, concept: number) => string> = new Map([
  ['inactive', (index, concept) => String(!index.isActive(concept))],
  ['module', (index, concept) => index.module(concept)],
  ['moduleId', (index, concept) => index.module(concept)],
  ['sufficientlyDefined', (index, concept) => String(index.isDefined(concept))],
  ['effectiveTime', (index, concept) => dateOf(index.effectiveTime(concept))],
])

function column(index: SnomedIndex, property: string): ReadonlyMap<string, Bitmap> {
  const read = COLUMNS.get(property)
  if (read === undefined) return new Map()
  const places = Map.groupBy(
    Array.from({ length: index.size }, (_, concept) => concept),
    (concept) => read(index, concept),
  )
  return new Map(Array.from(places, ([value, concepts]) => [value, bitmapFrom(concepts, index.size)]))
}
