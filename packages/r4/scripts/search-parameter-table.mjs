// Derives the rows that the search engine indexes by.
import { searchedElements } from './searched-elements.mjs'

/** One row per SearchParameter, in the order of the urls. */
export function searchParameterTable(definitions) {
  const elementsOf = searchedElements(definitions)
  const parameters = definitions.filter(({ resourceType }) => resourceType === 'SearchParameter')
  return parameters.map((parameter) => row(parameter, elementsOf)).sort((a, b) => (a.url < b.url ? -1 : 1))
}

function row({ url, code, base, type, expression, target, component }, elementsOf) {
  const { systems, canonical } = elementsOf(expression)
  return {
    url,
    code,
    base,
    type,
    ...(expression && { expression }),
    ...(target && { target }),
    ...(component && { component }),
    ...(type === 'token' && Object.keys(systems).length > 0 && { systems }),
    ...(type === 'reference' && canonical && { canonical }),
  }
}
