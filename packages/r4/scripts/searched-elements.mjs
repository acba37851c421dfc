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
  const valueSets = new Map(
    definitions.filter(({ resourceType }) => resourceType === 'ValueSet').map((valueSet) => [valueSet.url, valueSet]),
  )
  return (expression = '') => {
    const paths = branchesOf(expression)
    const elements = paths.map((path) => elementAt(types, path))
    const coded = paths.map((path, index) => [path.split('.')[0], impliedSystem(elements[index], valueSets)])
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

/** The one code system of the value set that a `code` is bound to. */
function impliedSystem(element, valueSets) {
  const valueSet = isOnly(element, ['code']) && element.binding?.strength === 'required' ? element.binding.valueSet : ''
  const [include, ...others] = valueSets.get(valueSet.split('|', 1)[0])?.compose.include ?? []
  return others.length === 0 ? include?.system : undefined
}

function isCanonical(element) {
  return isOnly(element, ['canonical', 'uri'])
}

function isOnly(element, types) {
  return element?.type?.length === 1 && types.includes(element.type[0].code)
}
