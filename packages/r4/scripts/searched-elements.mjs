// Tells of what kind the elements are that a search parameter looks at.

/**
 * @param definitions The StructureDefinitions and ValueSets of the release.
 * @returns A function from an expression to the members `systems` and `canonical` of its row.
 */
export function searchedElements(definitions) {
  const types = new Map(
    definitions
      .filter(({ resourceType, derivation }) => resourceType === 'StructureDefinition' && derivation !== 'constraint')
      .map((definition) => [definition.type, new Map(definition.snapshot.element.map((element) => [element.path, element]))]),
  )
  const byUrl = (type) => new Map(definitions.filter(({ resourceType }) => resourceType === type).map((one) => [one.url, one]))
  const terms = { valueSets: byUrl('ValueSet'), codeSystems: byUrl('CodeSystem') }
  return (expression = '') => {
    const paths = branchesOf(expression)
    const elements = paths.map((path) => elementAt(types, path))
    const coded = paths.map((path, index) => [path.split('.')[0], impliedSystem(elements[index], terms)])
    return { systems: agreedSystems(coded), canonical: elements.every(isCanonical) }
  }
}

/** By type: the system on which all paths of the type agree. */
function agreedSystems(coded) {
  const types = [...new Set(coded.map(([type]) => type))]
  const agreed = types.map((type) => [type, [...new Set(coded.filter(([other]) => other === type).map(([, system]) => system))]])
  return Object.fromEntries(
    agreed.filter(([, systems]) => systems.length === 1 && systems[0] !== undefined).map(([type, [system]]) => [type, system]),
  )
}

/** The paths of an expression, without the conditions on the way. */
function branchesOf(expression) {
  return expression
    .replace(/\.where\([^()]*\)/g, '')
    .split('|')
    .map((branch) => branch.trim())
}

/** The definition of the element at a path; `undefined` for what is no plain path. */
function elementAt(types, path) {
  const [root, ...names] = path.split('.')
  let elements = types.get(root)
  let place = root
  let element
  for (const name of names) {
    const code = element?.type?.[0]?.code
    if (element !== undefined && elements.get(`${place}.${name}`) === undefined && types.has(code)) {
      elements = types.get(code)
      place = code
    }
    place = `${place}.${name}`
    element = elements?.get(place)
    if (element === undefined) return undefined
  }
  return element
}

/** The code system of the value set that a `code` is bound to; if there are several, that of each of its codes. */
function impliedSystem(element, { valueSets, codeSystems }) {
  const valueSet = isOnly(element, ['code']) && element.binding?.strength === 'required' ? element.binding.valueSet : ''
  const includes = valueSets.get(valueSet.split('|', 1)[0])?.compose.include ?? []
  if (includes.length < 2) return includes[0]?.system
  const coded = includes.flatMap(({ system, concept = codeSystems.get(system)?.concept }) => concept.map(({ code }) => [code, system]))
  return Object.fromEntries(coded)
}

function isCanonical(element) {
  return isOnly(element, ['canonical', 'uri'])
}

function isOnly(element, types) {
  return element?.type?.length === 1 && types.includes(element.type[0].code)
}
