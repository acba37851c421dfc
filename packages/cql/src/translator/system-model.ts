/** The types of the System model (CQL specification, appendix B) with their elements: `type`, or `type*` for a list. */
const SYSTEM_TYPES: readonly (readonly [name: string, base: string, elements?: Readonly<Record<string, string>>])[] = [
  ['Any', ''],
  ...['Boolean', 'Integer', 'Long', 'Decimal', 'String', 'DateTime', 'Date', 'Time'].map((name) => [name, 'Any'] as const),
  ['Quantity', 'Any', { value: 'Decimal', unit: 'String' }],
  ['Ratio', 'Any', { numerator: 'Quantity', denominator: 'Quantity' }],
  ['Code', 'Any', { code: 'String', system: 'String', version: 'String', display: 'String' }],
  ['Concept', 'Any', { codes: 'Code*', display: 'String' }],
  ['Vocabulary', 'Any', { id: 'String', version: 'String' }],
  ['ValueSet', 'Vocabulary'],
  ['CodeSystem', 'Vocabulary'],
]

/** The System model as model information (XML), which the translator needs before any other. */
export function systemModelInfo(): string {
  const types = SYSTEM_TYPES.map(([name, base, elements]) => typeInfo(name, base, elements)).join('')
  return `<?xml version="1.0" encoding="UTF-8"?><m:modelInfo xmlns:m="urn:hl7-org:elm-modelinfo:r1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="System" version="1.0.0" url="urn:hl7-org:elm-types:r1" targetQualifier="system">${types}</m:modelInfo>`
}

function typeInfo(name: string, base: string, elements: Readonly<Record<string, string>> | undefined): string {
  const kind = elements === undefined && base !== 'Vocabulary' ? 'SimpleTypeInfo' : 'ClassInfo'
  const baseType = base === '' ? '' : ` baseType="System.${base}"`
  const members = Object.entries(elements ?? {})
    .map(([element, type]) => elementInfo(element, type))
    .join('')
  return `<m:typeInfo xsi:type="m:${kind}" name="System.${name}"${baseType}>${members}</m:typeInfo>`
}

function elementInfo(name: string, type: string): string {
  if (!type.endsWith('*')) return `<m:element name="${name}" type="System.${type}"/>`
  return `<m:element name="${name}"><m:typeSpecifier xsi:type="m:ListTypeSpecifier" elementType="System.${type.slice(0, -1)}"/></m:element>`
}
