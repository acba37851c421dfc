// Derives the table that `typeModelOf` of fhir-ops/model reads and describes.

const SYSTEM = 'http://hl7.org/fhirpath/System.'
const FHIR_TYPE = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-fhir-type'

/** Every type of the release and every nested element with its own elements, by name or path. */
export function typeTable(definitions) {
  const types = definitions.filter(({ resourceType, kind, derivation }) => {
    return resourceType === 'StructureDefinition' && kind !== 'logical' && derivation !== 'constraint'
  })
  return Object.fromEntries(types.flatMap(entriesOf))
}

function entriesOf(definition) {
  const all = definition.snapshot.element
  const parents = new Set(all.map(({ path }) => parentOf(path)))
  return all.filter(({ path }) => parents.has(path)).map((parent) => [parent.path, entryOf(definition, parent)])
}

function entryOf(definition, parent) {
  const root = parent.path === definition.type
  return {
    kind: root ? definition.kind : 'nested',
    ...baseOf(root ? definition.baseDefinition?.split('/').at(-1) : parent.type[0].code),
    elements: Object.fromEntries(ownElements(definition, parent.path).map((element) => [nameOf(element), shapeOf(element, definition)])),
  }
}

function baseOf(base) {
  return base === undefined ? {} : { base }
}

/** Inherited elements are those of the base type. The value of a primitive type is no element of the model. */
function ownElements({ kind, snapshot }, parent) {
  if (kind === 'primitive-type') return []
  return snapshot.element.filter(({ path, base }) => parentOf(path) === parent && base?.path === path)
}

/** Type names parted by bars, then `*` for a list: `boolean|dateTime`, `Identifier*`, `Patient.contact*`. */
function shapeOf(element, definition) {
  return typesOf(element, definition).join('|') + (element.max === '1' ? '' : '*')
}

function typesOf(element, definition) {
  if (element.contentReference !== undefined) return [element.contentReference.slice(element.contentReference.indexOf('#') + 1)]
  const nested = definition.snapshot.element.some(({ path }) => parentOf(path) === element.path)
  if (element.path === 'Resource.id') return ['id']
  return nested ? [element.path] : [...new Set(element.type.map(typeName))]
}

/** Elements whose form is a string of the underlying language name their FHIR type in an extension. */
function typeName({ code, extension }) {
  return code.startsWith(SYSTEM) ? (extension?.find(({ url }) => url === FHIR_TYPE)?.valueUrl ?? code) : code
}

function parentOf(path) {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')))
}

function nameOf({ path }) {
  return path.slice(path.lastIndexOf('.') + 1)
}
