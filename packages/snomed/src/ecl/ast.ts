/** Which relatives a constraint selects, such as `<`; `top` keeps concepts that have no ancestors in the set, `bottom` those without descendants in it. */
export type HierarchyOperator = '<' | '<<' | '<!' | '<<!' | '>' | '>>' | '>!' | '>>!' | 'top' | 'bottom'

/** How two values are compared. */
export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** A concept by its id. */
export interface ConceptReference {
  readonly id: string
  /** Position in characters, for messages. */
  readonly at: number
}

/** A concept by its code in another identifier scheme, `LOINC#54486-6`. */
export interface AlternateIdentifier {
  /** Alias or name of the identifier scheme. */
  readonly scheme: string
  readonly code: string
  readonly at: number
}

/** The focus of an expression: a concept, any concept, or an expression in brackets. */
export type Focus =
  | { readonly kind: 'concept'; readonly concept: ConceptReference }
  | { readonly kind: 'identifier'; readonly identifier: AlternateIdentifier }
  | { readonly kind: 'any' }
  | { readonly kind: 'nested'; readonly constraint: Constraint }

/** `^`, optionally with the fields to select instead of the members; `*` for all fields. */
export interface MemberOf {
  readonly fields: readonly string[] | '*'
  readonly at: number
}

/** An operator, a focus, and filters on the concepts that they select. */
export interface SubConstraint {
  readonly kind: 'sub'
  readonly operator?: HierarchyOperator
  readonly memberOf?: MemberOf
  readonly focus: Focus
  readonly memberFilters: readonly (readonly MemberFilter[])[]
  readonly filters: readonly ConceptOrDescriptionFilters[]
  readonly history?: History
}

/** An expression constraint. @see https://confluence.ihtsdotools.org/display/DOCECL */
export type Constraint =
  | SubConstraint
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Constraint[] }
  | { readonly kind: 'minus'; readonly left: Constraint; readonly right: Constraint }
  | { readonly kind: 'refined'; readonly focus: Constraint; readonly refinement: Refinement }
  | { readonly kind: 'dotted'; readonly focus: Constraint; readonly attributes: readonly Constraint[] }

/** How often something may occur; without `max`, there is no upper limit. */
export interface Cardinality {
  readonly min: number
  readonly max?: number
}

/** The part of a refined expression after the colon. */
export type Refinement =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Refinement[] }
  | { readonly kind: 'group'; readonly cardinality?: Cardinality; readonly attributes: Refinement }
  | Attribute

/** An attribute, with the condition on its value. */
export interface Attribute {
  readonly kind: 'attribute'
  readonly cardinality?: Cardinality
  readonly reverse: boolean
  readonly name: Constraint
  readonly value: AttributeValue
}

/** The value with which that of an attribute is compared. */
export type AttributeValue =
  | { readonly kind: 'concepts'; readonly comparison: Comparison; readonly constraint: Constraint }
  | { readonly kind: 'number'; readonly comparison: Comparison; readonly value: number }
  | { readonly kind: 'text'; readonly comparison: Comparison; readonly terms: readonly SearchTerm[] }
  | { readonly kind: 'boolean'; readonly comparison: Comparison; readonly value: boolean }

/** `match`: each word of the term begins a word of the text. `wild`: the term matches the whole text, with `*` for anything. */
export interface SearchTerm {
  readonly match: 'match' | 'wild'
  /** Text as written, without escapes of quotes; in a wild term, `\*` is an asterisk. */
  readonly text: string
}

/** Filters in one pair of double braces: all must apply to the same description, or to the concept. */
export type ConceptOrDescriptionFilters =
  | { readonly kind: 'description'; readonly filters: readonly DescriptionFilter[] }
  | { readonly kind: 'concept'; readonly filters: readonly ConceptFilter[] }

/** Concepts in a filter, listed or selected by a constraint. */
export type ConceptList =
  | { readonly kind: 'list'; readonly concepts: readonly ConceptReference[] }
  | { readonly kind: 'constraint'; readonly constraint: Constraint }

/** Filters that apply to components of any kind. */
export type ComponentFilter =
  | { readonly kind: 'module'; readonly comparison: Comparison; readonly modules: ConceptList }
  | { readonly kind: 'effectiveTime'; readonly comparison: Comparison; readonly times: readonly string[] }
  | { readonly kind: 'active'; readonly active: boolean | 'any' }

/** Acceptability of a description in a dialect. */
export type Acceptability = 'acceptable' | 'preferred'

/** Language reference sets by id, dialect alias or constraint; without `acceptability`, any acceptability counts. */
export interface Dialect {
  readonly refset: ConceptReference | { readonly alias: string; readonly at: number } | { readonly constraint: Constraint }
  readonly acceptability: readonly Acceptability[]
}

/** A condition of a description filter `{{ D ... }}`. */
export type DescriptionFilter =
  | ComponentFilter
  | { readonly kind: 'term'; readonly comparison: Comparison; readonly terms: readonly SearchTerm[] }
  | { readonly kind: 'language'; readonly comparison: Comparison; readonly languages: readonly string[] }
  | { readonly kind: 'type'; readonly comparison: Comparison; readonly types: ConceptList }
  | { readonly kind: 'dialect'; readonly comparison: Comparison; readonly dialects: readonly Dialect[] }
  | { readonly kind: 'id'; readonly comparison: Comparison; readonly ids: readonly string[] }

/** A condition of a concept filter `{{ C ... }}`. */
export type ConceptFilter =
  | ComponentFilter
  | { readonly kind: 'definitionStatus'; readonly comparison: Comparison; readonly statuses: ConceptList }

/** A condition of a member filter `{{ M ... }}`. */
export type MemberFilter = ComponentFilter | MemberFieldFilter

/** A filter on a field of a reference set's rows. */
export interface MemberFieldFilter {
  readonly kind: 'field'
  readonly field: string
  readonly at: number
  readonly value: AttributeValue | { readonly kind: 'time'; readonly comparison: Comparison; readonly times: readonly string[] }
}

/** A history supplement: adds inactive concepts that were replaced by the selected ones. */
export type History = { readonly profile: 'min' | 'mod' | 'max' } | { readonly refsets: Constraint }
