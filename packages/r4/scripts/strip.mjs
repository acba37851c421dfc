// Leaves out what no engine reads: narrative, contacts, mappings and the prose of elements.

const RESOURCE = new Set(['text', 'contact', 'publisher', 'purpose', 'useContext', 'jurisdiction', 'mapping', 'keyword', 'meta', 'xpath'])
const ELEMENT = new Set([
  'definition',
  'comment',
  'requirements',
  'alias',
  'mapping',
  'example',
  'isModifierReason',
  'meaningWhenMissing',
  'orderMeaning',
  'short',
])
const CONSTRAINT = new Set(['xpath', 'requirements'])

/** The resource without its documentation. A snapshot makes the differential superfluous. */
export function strip(resource) {
  const kept = without(resource, RESOURCE)
  if (resource.resourceType !== 'StructureDefinition') return kept
  if (resource.snapshot === undefined) return { ...kept, differential: elements(resource.differential) }
  delete kept.differential
  return { ...kept, snapshot: elements(resource.snapshot) }
}

function elements({ element }) {
  return { element: element.map(stripElement) }
}

function stripElement(element) {
  const kept = without(element, ELEMENT)
  if (kept.constraint !== undefined) kept.constraint = kept.constraint.map((constraint) => without(constraint, CONSTRAINT))
  return kept
}

function without(object, names) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)))
}
