// Derives the rows that the search engine indexes by.

/** One row per SearchParameter, in the order of the urls. */
export function searchParameterTable(parameters) {
  return parameters.map(row).sort((a, b) => (a.url < b.url ? -1 : 1))
}

function row({ url, code, base, type, expression, target, component }) {
  return { url, code, base, type, ...(expression && { expression }), ...(target && { target }), ...(component && { component }) }
}
