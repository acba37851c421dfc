/** Whose relatives a constraint selects: `<` and so on; `top` keeps members without ancestors among them, `bottom` those without descendants. */
export type HierarchyOperator = '<' | '<<' | '<!' | '<<!' | '>' | '>>' | '>!' | '>>!' | 'top' | 'bottom'

/** How two values are compared. */
export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** A concept by its id. */
export interface ConceptReference {
  readonly id: string
  /** Its position, for messages. */
  readonly at: number
}

/** A concept by its code in another identifier scheme, `LOINC#54486-6`. */
export interface AlternateIdentifier {
  /** Alias or name of the scheme. */
  readonly scheme: string
  readonly code: string
  readonly at: number
}

/** What an expression starts from: a concept, any concept, or an expression in brackets. */
export type Focus =
  | { readonly kind: 'concept'; readonly concept: ConceptReference }
  | { readonly kind: 'identifier'; readonly identifier: AlternateIdentifier }
  | { readonly kind: 'any' }
  | { readonly kind: 'nested'; readonly constraint: Constraint }

/** `^`, perhaps with the fields to take instead of the members; `*` for all of them. */
export interface MemberOf {
  readonly fields: readonly string[] | '*'
  readonly at: number
}

/** An operator, a focus, and filters on what they select. */
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

/** How often something may occur; without `max` there is no upper limit. */
export interface Cardinality {
  readonly min: number
  readonly max?: number
}

/** What follows the colon of a refined expression. */
export type Refinement =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Refinement[] }
  | { readonly kind: 'group'; readonly cardinality?: Cardinality; readonly attributes: Refinement }
  | Attribute

/** One attribute with what its value must be. */
export interface Attribute {
  readonly kind: 'attribute'
  readonly cardinality?: Cardinality
  readonly reverse: boolean
  readonly name: Constraint
  readonly value: AttributeValue
}

/** What the value of an attribute is compared with. */
export type AttributeValue =
  | { readonly kind: 'concepts'; readonly comparison: Comparison; readonly constraint: Constraint }
  | { readonly kind: 'number'; readonly comparison: Comparison; readonly value: number }
  | { readonly kind: 'text'; readonly comparison: Comparison; readonly terms: readonly SearchTerm[] }
  | { readonly kind: 'boolean'; readonly comparison: Comparison; readonly value: boolean }

/** `match`: every word starts a word. `wild`: the whole text, with `*` for anything. */
export interface SearchTerm {
  readonly match: 'match' | 'wild'
  /** As it was written, without escapes of quotes; in a wild term `\*` is an asterisk. */
  readonly text: string
}

/** Filters in one pair of double braces: all must hold for one description, or for the concept. */
export type ConceptOrDescriptionFilters =
  | { readonly kind: 'description'; readonly filters: readonly DescriptionFilter[] }
  | { readonly kind: 'concept'; readonly filters: readonly ConceptFilter[] }

/** Concepts that a filter lists, or selects. */
export type ConceptList =
  | { readonly kind: 'list'; readonly concepts: readonly ConceptReference[] }
  | { readonly kind: 'constraint'; readonly constraint: Constraint }

/** Filters that components of every kind can have. */
export type ComponentFilter =
  | { readonly kind: 'module'; readonly comparison: Comparison; readonly modules: ConceptList }
  | { readonly kind: 'effectiveTime'; readonly comparison: Comparison; readonly times: readonly string[] }
  | { readonly kind: 'active'; readonly active: boolean | 'any' }

/** How a dialect takes a description. */
export type Acceptability = 'acceptable' | 'preferred'

/** Language reference sets by an id, the alias of a dialect or a constraint; without `acceptability` any that they accept. */
export interface Dialect {
  readonly refset: ConceptReference | { readonly alias: string; readonly at: number } | { readonly constraint: Constraint }
  readonly acceptability: readonly Acceptability[]
}

/** One condition of a description filter `{{ D ... }}`. */
export type DescriptionFilter =
  | ComponentFilter
  | { readonly kind: 'term'; readonly comparison: Comparison; readonly terms: readonly SearchTerm[] }
  | { readonly kind: 'language'; readonly comparison: Comparison; readonly languages: readonly string[] }
  | { readonly kind: 'type'; readonly comparison: Comparison; readonly types: ConceptList }
  | { readonly kind: 'dialect'; readonly comparison: Comparison; readonly dialects: readonly Dialect[] }
  | { readonly kind: 'id'; readonly comparison: Comparison; readonly ids: readonly string[] }

/** One condition of a concept filter `{{ C ... }}`. */
export type ConceptFilter =
  | ComponentFilter
  | { readonly kind: 'definitionStatus'; readonly comparison: Comparison; readonly statuses: ConceptList }

/** One condition of a member filter `{{ M ... }}`. */
export type MemberFilter = ComponentFilter | MemberFieldFilter

/** A filter on a field of a reference set's rows. */
export interface MemberFieldFilter {
  readonly kind: 'field'
  readonly field: string
  readonly at: number
  readonly value: AttributeValue | { readonly kind: 'time'; readonly comparison: Comparison; readonly times: readonly string[] }
}

/** Adds inactive concepts that were replaced by what is selected. */
export type History = { readonly profile: 'min' | 'mod' | 'max' } | { readonly refsets: Constraint }
