/** Languages whose expression is the name of a definition. */
export const CQL_IDENTIFIER_LANGUAGES: ReadonlySet<string> = new Set(['text/cql-identifier', 'text/cql.identifier'])

/** Languages whose expression is CQL. With the first, it may also be the name of a definition. */
const CQL_EXPRESSION_LANGUAGES = ['text/cql', 'text/cql-expression', 'text/cql.expression']

/** FHIRPath, of the subject or of an item. */
export const FHIRPATH_LANGUAGE = 'text/fhirpath'

/** The languages of CQL. */
export const CQL_LANGUAGES: ReadonlySet<string> = new Set([...CQL_IDENTIFIER_LANGUAGES, ...CQL_EXPRESSION_LANGUAGES])
