export {
  isImported,
  type CodeSystem,
  type ComputedSystem,
  type ImplicitType,
  type ImportedSystem,
  type OpenRelease,
} from './code-system.js'
export type {
  CodeGrammar,
  CodeSystemProvider,
  ConceptIndex,
  ConceptSet,
  ConceptSource,
  ConceptStatus,
  ConceptText,
  DisplayOrder,
  Filter,
  FilterWord,
  Hierarchy,
  PlaceOrder,
  StandInValueSet,
  SystemHeader,
} from './provider.js'
