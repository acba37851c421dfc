import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('a definition', /^(?:measure|operation|search-parameter)/)
let n = 0
const HL7 = 'http://hl7.org/fhir/'
const lib = (m: JsonObject = {}): JsonObject => ({
  resourceType: 'Library',
  url: 'http://a.org/Library/L' + ++n,
  name: 'L',
  status: 'active',
  type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/library-type', code: 'logic-library' }] },
  ...m,
})
const b64 = (t: string): string => Buffer.from(t).toString('base64')
const elm =
  '<?xml version="1.0"?><library xmlns="urn:hl7-org:elm:r1"><identifier id="L"/><parameters><def name="P"/></parameters><statements><def name="Good" context="Patient"><expression/></def></statements></library>'
const X = (t: string, ct = 'application/elm+xml') => ({ content: [{ contentType: ct, data: b64(t) }] })
const me = (crit: JsonObject, m: JsonObject = {}, libs: readonly JsonObject[] = []): JsonObject => ({
  resourceType: 'Measure',
  url: `http://a.org/Measure/m${++n}`,
  status: 'active',
  ...(libs.length > 0 && { library: libs.map((l) => l['url']) }),
  group: [{ population: [{ criteria: crit }] }],
  ...m,
})
const C = (expression: string, language = 'text/cql.identifier') => ({ language, expression })
const L = lib(X(elm))
add('m nolib: MEASURE_M_CRITERIA_CQL_NO_LIB', ['error|invalid measure-criteria Measure.group[0].population[0].criteria'], me(C('X')))
add('m ok', [], me(C('Good'), {}, [L]), [L])
add('m ok2', [], me(C('L.Good'), {}, [L]), [L])
add(
  'm param: MEASURE_M_CRITERIA_CQL_NOT_FOUND',
  ['error|invalid measure-criteria Measure.group[0].population[0].criteria'],
  me(C('P'), {}, [L]),
  [L],
)
add(
  'm bad: MEASURE_M_CRITERIA_CQL_NOT_FOUND',
  ['error|invalid measure-criteria Measure.group[0].population[0].criteria'],
  me(C('Nope'), {}, [L]),
  [L],
)
add(
  'm lib: MEASURE_M_CRITERIA_CQL_LIB_NOT_FOUND',
  ['error|invalid measure-criteria Measure.group[0].population[0].criteria'],
  me(C('Z.Nope'), {}, [L]),
  [L],
)
{
  const l = lib({})
  add(
    'm noelm: MEASURE_M_CRITERIA_CQL_NO_ELM',
    ['error|invalid measure-criteria Measure.group[0].population[0].criteria'],
    me(C('X'), {}, [l]),
    [l],
  )
}
{
  const l = lib(X('<library/>'))
  add(
    'm badelm: MEASURE_M_CRITERIA_CQL_ELM_NOT_VALID',
    ['error|invalid measure-criteria Measure.group[0].population[0].criteria'],
    me(C('X'), {}, [l]),
    [l],
  )
}
{
  const l = lib(X('not xml'))
  add(
    'm noxml: MEASURE_M_CRITERIA_CQL_ERROR',
    ['error|invalid measure-criteria Measure.group[0].population[0].criteria'],
    me(C('X'), {}, [l]),
    [l],
  )
}
{
  const l = lib(X(JSON.stringify({ library: { statements: { def: [{ name: 'Good' }] } } }), 'application/elm+json'))
  add('m json', [], me(C('Good'), {}, [l]), [l])
}
{
  const l = lib(X(elm)),
    k = lib(X(elm))
  add(
    'm dupl: MEASURE_M_CRITERIA_CQL_LIB_DUPL',
    ['error|invalid measure-criteria Measure.group[0].population[0].criteria'],
    me(C('L.Good'), {}, [l, k]),
    [l, k],
  )
  add(
    'm one: MEASURE_M_CRITERIA_CQL_ONLY_ONE_LIB',
    ['error|invalid measure-criteria Measure.group[0].population[0].criteria'],
    me(C('Good'), {}, [l, k]),
    [l, k],
  )
}
add(
  'm unknown lang: MEASURE_M_CRITERIA_UNKNOWN',
  ['warning|required measure-criteria Measure.group[0].population[0].criteria'],
  me(C('x', 'text/fhirpath')),
)
add(
  'm query: MEASURE_M_CRITERIA_UNKNOWN',
  ['warning|required measure-criteria Measure.group[0].population[0].criteria'],
  me(C('Patient?x=y', 'application/x-fhir-query')),
)
add(
  'm cqlexpr: MEASURE_M_CRITERIA_UNKNOWN',
  ['warning|required measure-criteria Measure.group[0].population[0].criteria'],
  me(C('x', 'text/cql-expression')),
)
add('m nogroups: MEASURE_M_NO_GROUPS', ['warning|required measure-incomplete Measure'], me(C('x'), { group: undefined }))
add('m nopop: MEASURE_M_GROUP_POP', ['warning|required measure-incomplete Measure.group[0]'], me(C('x'), { group: [{}] }))
add(
  'm twogroups: MEASURE_M_GROUP_CODE, MEASURE_M_GROUP_POP',
  [
    'warning|required measure-incomplete Measure.group[0]',
    'warning|required measure-incomplete Measure.group[1]',
    'warning|required measure-incomplete Measure.group[0]',
    'warning|required measure-incomplete Measure.group[1]',
  ],
  me(C('x'), { group: [{}, {}] }),
)
add(
  'm codes: MEASURE_M_GROUP_POP_NO_CODE, MEASURE_M_GROUP_STRATA_NO_CODE, MEASURE_M_GROUP_STRATA_COMP_NO_CODE, MEASURE_M_CRITERIA_CQL_NOT_FOUND',
  [
    'warning|required measure-incomplete Measure.group[0].population[0]',
    'warning|required measure-incomplete Measure.group[0].population[1]',
    'warning|required measure-incomplete Measure.group[0].stratifier[0]',
    'warning|required measure-incomplete Measure.group[0].stratifier[1]',
    'warning|required measure-incomplete Measure.group[0].stratifier[1].component[0]',
    'warning|required measure-incomplete Measure.group[0].stratifier[1].component[1]',
    'error|invalid measure-criteria Measure.group[0].stratifier[0].criteria',
    'error|invalid measure-criteria Measure.group[0].stratifier[1].component[1].criteria',
    'error|invalid measure-criteria Measure.supplementalData[0].criteria',
  ],
  me(
    C('x'),
    {
      group: [
        {
          population: [{ criteria: C('Good') }, { criteria: C('Good') }],
          stratifier: [{ criteria: C('Nope') }, { component: [{ criteria: C('Good') }, { criteria: C('Nope') }] }],
        },
      ],
      supplementalData: [{ criteria: C('Nope') }],
    },
    [L],
  ),
  [L],
)
const od = (m: JsonObject = {}): JsonObject => ({
  resourceType: 'OperationDefinition',
  url: 'http://a.org/od' + ++n,
  name: 'Od',
  status: 'active',
  kind: 'operation',
  code: 'x',
  system: true,
  type: false,
  instance: false,
  ...m,
})
add(
  'o notfound: OPDEF_PROFILE_NOT_FOUND',
  ['error|unknown operation-parameter OperationDefinition.inputProfile'],
  od({ inputProfile: 'http://a.org/none' }),
)
add(
  'o notparam: OPDEF_PROFILE_NOT_PARAMETERS',
  [
    'error|invalid operation-parameter OperationDefinition.inputProfile',
    'error|invalid operation-parameter OperationDefinition.outputProfile',
  ],
  od({ inputProfile: HL7 + 'StructureDefinition/Patient', outputProfile: HL7 + 'StructureDefinition/Patient' }),
)
{
  const b = od({ base: 'http://a.org/circular' })
  const a = od({ url: 'http://a.org/circular', base: b['url'] })
  add('o circular: OPDEF_CIRCULAR_DEFINITION', ['error|unknown operation-parameter OperationDefinition'], a, [b])
}
const sdp = (slices: readonly JsonObject[]): JsonObject => ({
  resourceType: 'StructureDefinition',
  url: 'http://a.org/sdp' + ++n,
  name: 'P',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Parameters',
  baseDefinition: HL7 + 'StructureDefinition/Parameters',
  derivation: 'constraint',
  differential: {
    element: [
      { id: 'Parameters', path: 'Parameters' },
      {
        id: 'Parameters.parameter',
        path: 'Parameters.parameter',
        slicing: { discriminator: [{ type: 'value', path: 'name' }], rules: 'open' },
      },
      ...slices,
    ],
  },
})
const par = (name: string, m: JsonObject = {}): JsonObject => ({ name, use: 'in', min: 1, max: '1', type: 'string', ...m })
const sl = (name: string, m: JsonObject = {}, nm: JsonObject = { fixedString: name }): readonly JsonObject[] => [
  { id: 'Parameters.parameter:' + name, path: 'Parameters.parameter', sliceName: name, min: 1, max: '1', ...m },
  { id: `Parameters.parameter:${name}.name`, path: 'Parameters.parameter.name', ...nm },
  { id: `Parameters.parameter:${name}.value[x]`, path: 'Parameters.parameter.value[x]', type: [{ code: 'string' }] },
  { id: `Parameters.parameter:${name}.resource`, path: 'Parameters.parameter.resource', max: '0' },
]
{
  const p = sdp(sl('a'))
  add('o ok', [], od({ inputProfile: p.url, parameter: [par('a')] }), [p])
  add(
    'o min: OPDEF_PROFILE_NOT_VALUE_MISMATCH',
    ['error|unknown operation-parameter OperationDefinition.parameter[0]'],
    od({ inputProfile: p.url, parameter: [par('a', { min: 0 })] }),
    [p],
  )
  add(
    'o type: OPDEF_PROFILE_TYPE_NOT_IN_PARAMS',
    ['error|invalid operation-parameter OperationDefinition.parameter[0]'],
    od({ inputProfile: p.url, parameter: [par('a', { type: 'integer' })] }),
    [p],
  )
  const both = sdp(sl('a').map((one) => (one['type'] === undefined ? one : { ...one, type: [{ code: 'string' }, { code: 'integer' }] })))
  const allowed = (...types: readonly string[]): JsonObject => ({
    type: 'Element',
    extension: types.map((valueUri) => ({ url: HL7 + 'StructureDefinition/operationdefinition-allowed-type', valueUri })),
  })
  const wrong = ['error|invalid operation-parameter OperationDefinition.parameter[0]']
  add('o fewer: OPDEF_PROFILE_TYPE_NOT_IN_PARAMS', wrong, od({ inputProfile: both.url, parameter: [par('a')] }), [both])
  add('o same', [], od({ inputProfile: both.url, parameter: [par('a', allowed('integer', 'string'))] }), [both])
  const more = od({ inputProfile: p.url, parameter: [par('a', allowed('integer', 'string'))] })
  add('o more: OPDEF_PROFILE_TYPE_NOT_IN_PROFILE', wrong, more, [p])
  const endless = sdp(sl('a', { max: '*' }))
  add(
    'o max: OPDEF_PROFILE_NOT_VALUE_MISMATCH',
    ['error|unknown operation-parameter OperationDefinition.parameter[0]'],
    od({ inputProfile: endless.url, parameter: [par('a')] }),
    [endless],
  )
  add(
    'o missing: OPDEF_PROFILE_NOT_IN_PARAM, OPDEF_PROFILE_NOT_IN_PROFILE',
    [
      'warning|unknown operation-parameter OperationDefinition.inputProfile',
      'warning|unknown operation-parameter OperationDefinition.parameter[0]',
    ],
    od({ inputProfile: p.url, parameter: [par('b')] }),
    [p],
  )
}
{
  const p = sdp(sl('a', {}, { min: 1 }))
  add(
    'o nofixed: OPDEF_PROFILE_NO_FIXED',
    [
      'error|unknown operation-parameter OperationDefinition.inputProfile',
      'warning|unknown operation-parameter OperationDefinition.parameter[0]',
    ],
    od({ inputProfile: p.url, parameter: [par('a')] }),
    [p],
  )
}
const sp = (m: JsonObject = {}): JsonObject => ({
  resourceType: 'SearchParameter',
  url: 'http://a.org/sp' + ++n,
  name: 'Sp',
  status: 'active',
  description: 'd',
  code: 'x',
  base: ['Patient'],
  type: 'string',
  expression: 'Patient.name.family',
  ...m,
})
add('s ok', [], sp({}))
add(
  's char: SEARCHPARAMETER_BAD_CHAR',
  [
    'warning|invalid search-parameter SearchParameter',
    'warning|invalid search-parameter SearchParameter',
    'warning|invalid search-parameter SearchParameter',
  ],
  sp({ code: 'a.b$c|d' }),
)
add(
  's expr: ED_SEARCH_EXPRESSION_ERROR',
  ['error|invalid search-parameter-expression SearchParameter.expression'],
  sp({ expression: 'Patient.nme' }),
)
add(
  's expr2: ED_SEARCH_EXPRESSION_ERROR',
  ['error|invalid search-parameter-expression SearchParameter.expression'],
  sp({ expression: "Patient.name.where(usee='x')" }),
)
add(
  's expr3: ED_SEARCH_EXPRESSION_ERROR',
  ['error|invalid search-parameter-expression SearchParameter.expression'],
  sp({ expression: 'Observation.code' }),
)
add(
  's expr4: FHIRPATH_OFTYPE_IMPOSSIBLE',
  ['warning|business-rule search-parameter-expression SearchParameter.expression'],
  sp({ expression: 'Patient.deceased.as(Blob)' }),
)
add(
  's expr5: ED_SEARCH_EXPRESSION_ERROR',
  ['error|invalid search-parameter-expression SearchParameter.expression'],
  sp({ expression: 'Patient.name.(' }),
)
add(
  's expr6: ED_SEARCH_EXPRESSION_ERROR',
  ['error|invalid search-parameter-expression SearchParameter.expression'],
  sp({ base: ['Observation'], expression: 'Observation.valueQuantity' }),
)
const ob = sp({ url: 'http://a.org/orig', base: ['Patient', 'Practitioner'], expression: 'Patient.name.family | Practitioner.name.family' })
add('s derived ok', [], sp({ derivedFrom: ob.url }), [ob])
add(
  's derived exp: SEARCHPARAMETER_EXP_WRONG',
  ['warning|business-rule search-parameter SearchParameter'],
  sp({ derivedFrom: ob.url, expression: 'Patient.name.given' }),
  [ob],
)
add(
  's derived base: SEARCHPARAMETER_BASE_WRONG, SEARCHPARAMETER_EXP_WRONG',
  ['warning|business-rule search-parameter SearchParameter', 'error|business-rule search-parameter SearchParameter'],
  sp({ derivedFrom: ob.url, base: ['Group'], expression: 'Group.name' }),
  [ob],
)
const ro = sp({ url: 'http://a.org/origr', base: ['Resource'], expression: 'Resource.id' })
add('s derived res', [], sp({ derivedFrom: ro.url, expression: 'Resource.id' }), [ro])
