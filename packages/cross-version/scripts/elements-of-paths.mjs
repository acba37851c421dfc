/**
 * The table of a release from HL7's list of its paths, which has types and modifiers, and neither how often an element may be there nor its codes: each may
 * be there any number of times.
 */
export function elementsOfPaths(paths, { release, source }) {
  const elements = Object.entries(paths).map(([path, { types, modifier, ref }]) => [
    path.replaceAll('[x]', ''),
    {
      max: '*',
      ...(types && { types: types.map(typeText) }),
      ...(ref && { ref: ref.replace('#', '') }),
      ...(modifier && { modifier: true }),
    },
  ])
  return { format: 'fhir-ops-release-elements 1', release, source, elements: Object.fromEntries(elements), valueSets: {} }
}

/** `Quantity(Money)` is a profile, which R4 may not have; `Reference(Any)` leads to anything. */
function typeText(text) {
  const [code, targets = ''] = text.replace(')', '').split('(')
  return code === 'Reference' && targets !== '' && targets !== 'Any' ? `${code}(${targets.split(/[|,]/).join('|')})` : code
}
