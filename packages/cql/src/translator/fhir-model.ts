import type { TypeModel } from 'fhir-ops/fhirpath'
import type { TypeDefinition, ElementSlot } from 'fhir-ops/internal/fhirpath'
import { isResourceType } from 'fhir-ops/storage'

const FHIR_TO_SYSTEM: Readonly<Record<string, string>> = {
  Boolean: 'Boolean',
  Integer: 'Integer',
  Decimal: 'Decimal',
  String: 'String',
  Date: 'Date',
  DateTime: 'DateTime',
  Time: 'Time',
}

/** The element with which a retrieve compares codes if it states no path, for types where that is not `code`. */
const PRIMARY_CODE_PATHS: Readonly<Record<string, string>> = {
  ActivityDefinition: 'topic',
  AdverseEvent: 'event',
  Appointment: 'serviceType',
  Basic: 'code',
  CarePlan: 'category',
  CareTeam: 'category',
  ChargeItem: 'code',
  Communication: 'reasonCode',
  CommunicationRequest: 'category',
  Composition: 'type',
  Contract: 'type',
  Coverage: 'type',
  DeviceMetric: 'type',
  Encounter: 'type',
  EpisodeOfCare: 'type',
  Flag: 'code',
  Goal: 'category',
  HealthcareService: 'type',
  Immunization: 'vaccineCode',
  Library: 'topic',
  Location: 'type',
  MeasureReport: 'type',
  MedicationAdministration: 'medication',
  MedicationDispense: 'medication',
  MedicationRequest: 'medication',
  MedicationStatement: 'medication',
  MessageDefinition: 'event',
  Person: 'code',
  PractitionerRole: 'code',
  RelatedPerson: 'relationship',
  SearchParameter: 'target',
  Specimen: 'type',
  Substance: 'code',
}

/**
 * Creates the model information (XML) of FHIR from the types of the release. The translator needs it for `using FHIR`.
 *
 * @see https://hl7.org/fhir/uv/cql/using-modelinfo.html
 */
export function fhirModelInfo(model: TypeModel, version: string): string {
  const types = [...model.names()].map((name) => model.type(name)).filter((type) => type !== undefined)
  const conversions = conversionsOf(types).map(
    ({ from, to, name }) => `<m:conversionInfo functionName="FHIRHelpers.${name}" fromType="FHIR.${from}" toType="${to}"/>`,
  )
  const contexts = types.filter(({ kind, name }) => kind === 'resource' && isResourceType(name))
  const head =
    `xmlns:m="urn:hl7-org:elm-modelinfo:r1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="FHIR" version="${version}" ` +
    'url="http://hl7.org/fhir" targetQualifier="fhir" patientClassName="FHIR.Patient" patientBirthDatePropertyName="birthDate.value" schemaLocation=""'
  return `<?xml version="1.0" encoding="UTF-8"?><m:modelInfo ${head}><m:requiredModelInfo name="System" version="1.0.0"/>${types.map((type) => typeInfo(type, model)).join('')}${conversions.join('')}${contexts.map(contextInfo).join('')}</m:modelInfo>`
}

/** A context for each type that a Measure may have as its subjects. */
function contextInfo({ name }: TypeDefinition): string {
  return `<m:contextInfo name="${name}" keyElement="id"><m:contextType namespace="FHIR" name="${name}"/></m:contextInfo>`
}

interface Conversion {
  readonly from: string
  readonly to: string
  readonly name: string
}

/** Implicit conversions from FHIR types to System types, by functions of FHIRHelpers. */
function conversionsOf(types: readonly TypeDefinition[]): readonly Conversion[] {
  const primitives = types
    .filter(({ kind }) => kind === 'primitive')
    .flatMap(({ name, system = '' }) => {
      const target = Object.hasOwn(FHIR_TO_SYSTEM, system) ? FHIR_TO_SYSTEM[system] : undefined
      return target === undefined ? [] : [{ from: name, to: `System.${target}`, name: `To${target}` }]
    })
  return [
    ...primitives,
    { from: 'Coding', to: 'System.Code', name: 'ToCode' },
    { from: 'CodeableConcept', to: 'System.Concept', name: 'ToConcept' },
    { from: 'Quantity', to: 'System.Quantity', name: 'ToQuantity' },
    { from: 'Ratio', to: 'System.Ratio', name: 'ToRatio' },
    { from: 'Period', to: 'Interval&lt;System.DateTime&gt;', name: 'ToInterval' },
    { from: 'Range', to: 'Interval&lt;System.Quantity&gt;', name: 'ToInterval' },
  ]
}

/** Functions with which models of profiles convert elements. */
const OF_PROFILES = [
  'define function ToValue(value FHIR.Element): null as System.Any',
  'define function ToValueSet(value System.String): null as System.ValueSet',
]

/** The library FHIRHelpers as CQL. Only its signatures matter, since the engine has the functions built in. */
export function fhirHelpersText(model: TypeModel, version: string): string {
  const types = [...model.names()].map((name) => model.type(name)).filter((type) => type !== undefined)
  const functions = conversionsOf(types).map(({ from, to, name }) => {
    const result = to.replace('&lt;', '<').replace('&gt;', '>')
    return `define function ${name}(value FHIR."${from}"): null as ${result}`
  })
  return `library FHIRHelpers version '${version}'\nusing FHIR version '${version}'\n${[...functions, ...OF_PROFILES].join('\n')}\n`
}

function typeInfo(type: TypeDefinition, model: TypeModel): string {
  const base = type.base === undefined ? 'System.Any' : `FHIR.${modelName(type.base)}`
  const isResource = type.kind === 'resource'
  const codePath = Object.hasOwn(PRIMARY_CODE_PATHS, type.name)
    ? PRIMARY_CODE_PATHS[type.name]
    : type.elements.has('code')
      ? 'code'
      : undefined
  const attributes = [
    `namespace="FHIR" name="${modelName(type.name)}" baseType="${base}"`,
    type.name.includes('.') ? '' : ` identifier="http://hl7.org/fhir/StructureDefinition/${type.name}" label="${type.name}"`,
    isResource ? ' retrievable="true"' : ' retrievable="false"',
    isResource && codePath !== undefined ? ` primaryCodePath="${codePath}"` : '',
  ].join('')
  return `<m:typeInfo xsi:type="m:ClassInfo" ${attributes}>${ownElements(type, model).join('')}</m:typeInfo>`
}

/** Elements that the base type does not have; for primitives, also their value. */
function ownElements(type: TypeDefinition, model: TypeModel): readonly string[] {
  const inherited = type.base === undefined ? undefined : model.type(type.base)?.elements
  const own = [...type.elements].filter(([name]) => inherited?.has(name) !== true).map(([name, slots]) => elementInfo(name, slots))
  const target = type.kind === 'primitive' ? FHIR_TO_SYSTEM[type.system ?? ''] : undefined
  const isFirst = target !== undefined && (type.base === undefined || model.type(type.base)?.system !== type.system)
  return isFirst ? [`<m:element name="value" elementType="System.${target}"/>`, ...own] : own
}

function elementInfo(name: string, slots: readonly ElementSlot[]): string {
  const [first] = slots
  const types = [...new Set(slots.map(({ type }) => `FHIR.${modelName(type)}`))]
  const [only] = types
  if (first?.isCollection === true)
    return `<m:element name="${name}"><m:elementTypeSpecifier xsi:type="m:ListTypeSpecifier" elementType="${only}"/></m:element>`
  if (types.length === 1) return `<m:element name="${name}" elementType="${only}"/>`
  const choices = types.map((type) => `<m:choice xsi:type="m:NamedTypeSpecifier" namespace="FHIR" name="${type.slice('FHIR.'.length)}"/>`)
  return `<m:element name="${name}"><m:elementTypeSpecifier xsi:type="m:ChoiceTypeSpecifier">${choices.join('')}</m:elementTypeSpecifier></m:element>`
}

/** The name of a type in the model. Nested elements are named `Patient.Contact` there, and `Patient.contact` by path. */
function modelName(name: string): string {
  return name.replace(/\.([a-z])/g, (_, letter: string) => `.${letter.toUpperCase()}`)
}
