import type { SearchParameterTable } from './search-parameter.js'

/**
 * What every resource can be searched by, and the parameters of Bot, which is not a FHIR type. R4 calls `_profile` a uri; as a reference it
 * is found with and without the version of the canonical.
 */
export const OWN_PARAMETERS: SearchParameterTable = [
  { url: 'own:_profile', code: '_profile', base: ['Resource'], type: 'reference', expression: 'meta.profile' },
  { url: 'own:_security', code: '_security', base: ['Resource'], type: 'token', expression: 'meta.security' },
  { url: 'own:_source', code: '_source', base: ['Resource'], type: 'uri', expression: 'meta.source' },
  { url: 'own:_tag', code: '_tag', base: ['Resource'], type: 'token', expression: 'meta.tag' },
  { url: 'own:Bot-identifier', code: 'identifier', base: ['Bot'], type: 'token', expression: 'identifier' },
  { url: 'own:Bot-name', code: 'name', base: ['Bot'], type: 'string', expression: 'name' },
  { url: 'own:Bot-project', code: 'project', base: ['Bot'], type: 'token', expression: 'project' },
]

/** What every resource can be searched by where words are indexed. */
export const WORD_PARAMETERS: SearchParameterTable = [
  { url: 'own:_content', code: '_content', base: ['Resource'], type: 'string', expression: '$this' },
  { url: 'own:_text', code: '_text', base: ['Resource'], type: 'string', expression: 'text.`div`' },
]
