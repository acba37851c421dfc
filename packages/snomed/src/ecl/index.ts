export type {
  Acceptability,
  AlternateIdentifier,
  Attribute,
  AttributeValue,
  Cardinality,
  Comparison,
  ComponentFilter,
  ConceptFilter,
  ConceptList,
  ConceptOrDescriptionFilters,
  ConceptReference,
  Constraint,
  DescriptionFilter,
  Dialect,
  Focus,
  HierarchyOperator,
  History,
  MemberFieldFilter,
  MemberFilter,
  MemberOf,
  Refinement,
  SearchTerm,
  SubConstraint,
} from './ast.js'
export { EclError, eclReader, type EclReader } from './reader.js'
export { parseEcl } from './parse.js'
export { parseConcept } from './parse-terminals.js'
