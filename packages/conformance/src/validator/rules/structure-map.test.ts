import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('a structure map', /^structure-map-/)
const SD = 'http://hl7.org/fhir/StructureDefinition/'

const map = (groups: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  resourceType: 'StructureMap',
  url: 'http://a.test/StructureMap/m',
  name: 'M',
  status: 'draft',
  structure: [
    { url: `${SD}Patient`, mode: 'source', alias: 'Pat' },
    { url: `${SD}Person`, mode: 'target', alias: 'Per' },
  ],
  group: groups,
  ...more,
})
const PATIENT_TO_PERSON = [
  { name: 'src', type: 'Pat', mode: 'source' },
  { name: 'tgt', type: 'Per', mode: 'target' },
]
const group = (rules: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  name: 'Main',
  typeMode: 'none',
  input: PATIENT_TO_PERSON,
  rule: rules,
  ...more,
})
const rule = (source: JsonObject, target?: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'r',
  source: [source],
  ...(target && { target: [target] }),
  ...more,
})
const from = (element: string, variable: string, more: JsonObject = {}): JsonObject => ({ context: 'src', element, variable, ...more })
const to = (element: string, more: JsonObject = {}): JsonObject => ({ context: 'tgt', contextType: 'variable', element, ...more })
const copy = (element: string, variable: string): JsonObject => to(element, { transform: 'copy', parameter: [{ valueId: variable }] })
const only = (source: JsonObject, target?: JsonObject, more?: JsonObject): JsonObject => map([group([rule(source, target, more)])])
/** A rule that has one transform into the date of birth. */
const transform = (name: string, ...parameter: readonly JsonObject[]): JsonObject =>
  only(from('birthDate', 'd'), to('birthDate', { transform: name, ...(parameter.length > 0 && { parameter }) }))
const V = (valueId: string): JsonObject => ({ valueId })
const S = (valueString: string): JsonObject => ({ valueString })

const names = (more: JsonObject = {}): JsonObject => ({
  name: 'Names',
  typeMode: 'none',
  input: [
    { name: 'a', type: 'HumanName', mode: 'source' },
    { name: 'b', type: 'HumanName', mode: 'target' },
  ],
  rule: [rule({ context: 'a', element: 'family', variable: 'f' })],
  ...more,
})
const UNTYPED = [
  { name: 'a', mode: 'source' },
  { name: 'b', mode: 'target' },
]
const calling = (element: string, called: string, ...variable: readonly string[]): JsonObject =>
  rule(from(element, 'n'), to('name', { variable: 'm' }), { dependent: [{ name: called, variable }] })
const LIBRARY = { ...map([names({ typeMode: 'types' })]), url: 'http://b.test/StructureMap/lib' }

const R = 'StructureMap.group[0].rule[0]'

add('that copies what there is', [], only(from('birthDate', 'd'), copy('birthDate', 'd')))

add(
  'imports what is not known: SM_IMPORT_NOT_FOUND',
  ['warning|invalid structure-map-import StructureMap.import[0]'],
  map([group([rule(from('name', 'n'))])], { import: ['http://b.test/StructureMap/none'] }),
)
add('imports another', [], map([group([calling('name', 'Names', 'n', 'm')])], { import: [LIBRARY.url] }), [LIBRARY])

const imports = (url: string, called = 'Names'): JsonObject => map([group([calling('name', called, 'n', 'm')])], { import: [url] })
for (const url of ['http://b.test/StructureMap/*', 'http://b.test/StructureMap/l*b', 'http://b.test/*/lib', '*'])
  add(`imports all whose urls match ${url}`, [], imports(url), [LIBRARY])
for (const url of ['http://c.test/StructureMap/*', 'http://b.test/StructureMap/*x', 'http://b.test/StructureMap/lib?*'])
  add(
    `imports all whose urls match ${url}, of which there is none: SM_IMPORT_NOT_FOUND`,
    ['warning|invalid structure-map-import StructureMap.import[0]', `warning|not-found structure-map-call ${R}.dependent[0]`],
    imports(url),
    [LIBRARY],
  )
add(
  'calls a group that no import has whose url matches: SM_RULEGROUP_NOT_FOUND',
  [`error|not-found structure-map-call ${R}.dependent[0]`],
  imports('http://b.test/StructureMap/*', 'Nope'),
  [LIBRARY],
)

add(
  'has names that cannot be written: SM_NAME_INVALID',
  [
    'error|invalid structure-map-name StructureMap.group[0]',
    'error|invalid structure-map-name StructureMap.group[0].rule[0]',
    'error|invalid structure-map-name StructureMap.group[0].rule[0].source[0]',
  ],
  map([group([{ ...rule(from('name', 'a.b')), name: '1' }], { name: 'a-b' })]),
)
add(
  'has two groups of a name: SM_GROUP_NAME_DUPLICATE',
  ['error|invalid structure-map-name StructureMap.group[1]'],
  map([group([rule(from('name', 'n'))]), group([rule(from('name', 'n'))])]),
)
add(
  'has two inputs of a name: SM_GROUP_INPUT_DUPLICATE',
  ['error|duplicate structure-map-name StructureMap.group[0].input[1]'],
  map([group([rule(from('name', 'n'))], { input: [PATIENT_TO_PERSON[0], { ...PATIENT_TO_PERSON[1], name: 'src' }] })]),
)
add(
  'has an input without a type: SM_GROUP_INPUT_NO_TYPE',
  ['warning|not-supported structure-map-input StructureMap.group[0].input[1]'],
  map([group([rule(from('name', 'n'))], { input: [PATIENT_TO_PERSON[0], { name: 'tgt', mode: 'target' }] })]),
)
add(
  'has an input of a type that there is none: SM_GROUP_INPUT_TYPE_UNKNOWN_TYPE',
  ['error|invalid structure-map-input StructureMap.group[0].input[0]'],
  map([group([rule(from('name', 'n'))], { input: [{ name: 'src', type: 'Foo', mode: 'source' }] })]),
)
add(
  'declares a structure that is not known: SM_GROUP_INPUT_TYPE_UNKNOWN_STRUCTURE',
  ['warning|invalid structure-map-input StructureMap.group[0].input[0]'],
  map([group([rule(from('name', 'n'))])], {
    structure: [
      { url: 'http://x.test/Foo', mode: 'source', alias: 'Pat' },
      { url: `${SD}Person`, mode: 'target', alias: 'Per' },
    ],
  }),
)
add(
  'writes to what it declares for reading: SM_GROUP_INPUT_MODE_MISMATCH',
  ['error|not-supported structure-map-input StructureMap.group[0].input[1]'],
  map([group([rule(from('name', 'n'))])], {
    structure: [
      { url: `${SD}Patient`, mode: 'source', alias: 'Pat' },
      { url: `${SD}Person`, mode: 'queried', alias: 'Per' },
    ],
  }),
)
for (const mode of ['target', 'produced'])
  add(
    `writes to what it declares as ${mode}`,
    [],
    map([group([rule(from('name', 'n'))])], {
      structure: [
        { url: `${SD}Patient`, mode: 'queried', alias: 'Pat' },
        { url: `${SD}Person`, mode, alias: 'Per' },
      ],
    }),
  )

add(
  'reads from a variable that there is none: SM_SOURCE_CONTEXT_UNKNOWN',
  [`error|unknown structure-map-variable ${R}.source[0]`],
  only({ context: 'tgt', element: 'name', variable: 'n' }),
)
add(
  'writes to a variable that there is none: SM_TARGET_CONTEXT_UNKNOWN',
  [`error|unknown structure-map-variable ${R}.target[0]`],
  only(from('birthDate', 'd'), { ...copy('birthDate', 'd'), context: 'src' }),
)
add(
  "is without types, as R4's own example: a context may be the name of a type",
  ['warning|not-supported structure-map-input StructureMap.group[0].input[0]', `warning|unknown structure-map-variable ${R}.source[0]`],
  map([group([rule({ context: 'Source', element: 'test', variable: 't' })], { input: [{ name: 'test', mode: 'source' }] })]),
)
add(
  'uses a variable outside of its rule: SM_SOURCE_CONTEXT_UNKNOWN',
  ['error|unknown structure-map-variable StructureMap.group[0].rule[1].source[0]'],
  map([group([rule(from('name', 'n')), rule({ context: 'n', element: 'family', variable: 'f' })])]),
)
add(
  'does nothing with what it finds: SM_RULE_SOURCE_UNASSIGNED',
  [`information|invalid structure-map-list ${R}.source[0]`],
  only({ context: 'src', element: 'name' }),
)
for (const element of ['nope', 'deceasedBoolean', 'value'])
  add(
    `reads ${element} of a Patient: SM_SOURCE_PATH_INVALID`,
    [`error|invalid structure-map-path ${R}.source[0]`],
    only(from(element, 'v')),
  )
for (const element of ['deceased', 'id', 'extension', 'contact']) add(`reads ${element} of a Patient`, [], only(from(element, 'v')))
add(
  'reads what an element does not have: SM_SOURCE_PATH_INVALID',
  [`error|invalid structure-map-path ${R}.rule[0].source[0]`],
  only(from('contact', 'c'), undefined, { rule: [rule({ context: 'c', element: 'famly', variable: 'f' })] }),
)
add(
  'reads what several types of a choice have: SM_TARGET_PATH_MULTIPLE_MATCHES',
  [`warning|invalid structure-map-path ${R}.rule[0].source[0]`],
  map([
    group([rule(from('value', 'v'), undefined, { rule: [rule({ context: 'v', element: 'value', variable: 'w' })] })], {
      input: [{ name: 'src', type: 'Observation', mode: 'source' }],
    }),
  ]),
)
add(
  'reads an element of a logical model that is not there: SM_SOURCE_PATH_INVALID',
  [`error|invalid structure-map-path ${R}.rule[0].source[0]`, `error|invalid structure-map-path StructureMap.group[0].rule[1].source[0]`],
  map(
    [
      group(
        [
          rule(from('part', 'p'), undefined, { rule: [rule({ context: 'p', element: 'nme', variable: 'n' })] }),
          rule(from('prt', 'q')),
          rule(from('id', 'i')),
        ],
        { input: [{ name: 'src', type: 'Lm', mode: 'source' }] },
      ),
    ],
    { structure: [{ url: 'http://a.test/StructureDefinition/Lm', mode: 'source', alias: 'Lm' }] },
  ),
  [
    {
      resourceType: 'StructureDefinition',
      url: 'http://a.test/StructureDefinition/Lm',
      name: 'Lm',
      status: 'draft',
      kind: 'logical',
      abstract: false,
      type: 'http://a.test/StructureDefinition/Lm',
      baseDefinition: `${SD}Element`,
      derivation: 'specialization',
      differential: {
        element: [
          { path: 'Lm', min: 0, max: '*' },
          { path: 'Lm.part', min: 0, max: '*', type: [{ code: 'BackboneElement' }] },
          { path: 'Lm.part.name', min: 0, max: '1', type: [{ code: 'HumanName' }] },
        ],
      },
    },
  ],
)
for (const [type, expected] of [
  ['HumanName', []],
  ['Address', [`error|invalid structure-map-path ${R}.source[0]`]],
  ['Foo', [`error|invalid structure-map-path ${R}.source[0]`]],
] as const)
  add(`reads a name that is a ${type}: SM_SOURCE_TYPE_INVALID`, expected, only(from('name', 'n', { type })))
add(
  'reads more than there can be: SM_RULE_SOURCE_MAX_REDUNDANT',
  [`warning|invalid structure-map-list ${R}.source[0]`],
  only(from('birthDate', 'd', { min: 0, max: '2' })),
)

for (const [element, expected] of [
  ['birthDate', []],
  ['deceased', [`error|invalid structure-map-path ${R}.target[0]`]],
] as const)
  add(`writes ${element} of a Person: SM_TARGET_PATH_INVALID`, expected, only(from('birthDate', 'd'), copy(element, 'd')))
add(
  'writes a choice without choosing: SM_TARGET_TYPE_MULTIPLE_POSSIBLE',
  [`warning|invalid structure-map-path ${R}.target[0]`],
  map([
    group([rule(from('gender', 'g'), to('value', { variable: 'v' }))], {
      input: [PATIENT_TO_PERSON[0], { name: 'tgt', type: 'Observation', mode: 'target' }],
    }),
  ]),
)
for (const [element, expected] of [
  ['value', [`warning|invalid structure-map-path ${R}.rule[0].target[0]`]],
  ['numerator', []],
  ['nope', [`error|invalid structure-map-path ${R}.rule[0].target[0]`]],
] as const)
  add(
    `writes ${element} of a choice without choosing: SM_TARGET_PATH_MULTIPLE_MATCHES`,
    [`warning|invalid structure-map-path ${R}.target[0]`, ...expected],
    map([
      group(
        [
          rule(from('gender', 'g'), to('value', { variable: 'v' }), {
            rule: [rule(from('id', 'i'), { context: 'v', contextType: 'variable', element, transform: 'copy', parameter: [V('i')] })],
          }),
        ],
        { input: [PATIENT_TO_PERSON[0], { name: 'tgt', type: 'Observation', mode: 'target' }] },
      ),
    ]),
  )
for (const [type, expected] of [
  ['Quantity', []],
  ['Address', [`error|invalid structure-map-path ${R}.target[0]`]],
] as const)
  add(
    `creates a value that is a ${type}`,
    expected,
    map([
      group([rule(from('gender', 'g'), to('value', { variable: 'v', transform: 'create', parameter: [S(type)] }))], {
        input: [PATIENT_TO_PERSON[0], { name: 'tgt', type: 'Observation', mode: 'target' }],
      }),
    ]),
  )
add(
  'says how to choose from a list: SM_LIST_RULE_ID_ONLY_WHEN_SHARE',
  [`warning|invalid structure-map-list ${R}.target[0]`],
  only(from('name', 'n'), to('name', { variable: 'm', listMode: ['first'], listRuleId: 'x' })),
)
add(
  'says how to choose where there is one: SM_NO_LIST_MODE_NEEDED, SM_NO_LIST_RULE_ID_NEEDED',
  [`warning|invalid structure-map-list ${R}.target[0]`, `warning|invalid structure-map-list ${R}.target[0]`],
  only(from('birthDate', 'n'), to('name', { variable: 'm', listMode: ['share'], listRuleId: 'x' })),
)

const WRONG = [`error|invalid structure-map-transform ${R}.target[0]`]
add(
  'gives parameters to no transform: SM_TARGET_NO_TRANSFORM_NO_CHECKED',
  WRONG,
  only(from('birthDate', 'd'), to('birthDate', { parameter: [V('d')] })),
)
for (const [name, parameters, isRight] of [
  ['create', [S('date'), S('x')], false],
  ['copy', [V('d'), S('x')], false],
  ['reference', [], false],
  ['evaluate', [], false],
  ['evaluate', [S('1 + 1')], true],
  ['evaluate', [S('1 +')], false],
  ['uuid', [V('d')], false],
  ['uuid', [], true],
  ['append', [], false],
  ['truncate', [V('d')], false],
  ['cc', [S('text')], true],
  ['cc', [], false],
  ['translate', [V('d')], false],
  ['translate', [V('d'), V('d'), S('code')], true],
  ['translate', [V('d'), V('d'), S('nope')], false],
] as const)
  add(
    `${name} with ${JSON.stringify(parameters)}: SM_TARGET_TRANSFORM_PARAM_COUNT_RANGE, SM_TARGET_TRANSFORM_PARAM_COUNT_SINGLE, SM_TARGET_TRANSFORM_MISSING_PARAMS, SM_TARGET_TRANSFORM_EXPRESSION_ERROR, SM_TARGET_TRANSFORM_TRANSLATE_NO_PARAM, SM_TARGET_TRANSFORM_TRANSLATE_CM_BAD_MODE`,
    isRight ? [] : WRONG,
    transform(name, ...parameters),
  )
add(
  'gives a variable that there is none to a transform: SM_TARGET_TRANSFORM_TRANSLATE_UNKNOWN_SOURCE, SM_TARGET_TRANSFORM_OP_UNKNOWN_SOURCE',
  [`error|invalid structure-map-variable ${R}.target[0]`],
  transform('copy', V('nope')),
)
add(
  'translates by a map that is not known: SM_TARGET_TRANSFORM_TRANSLATE_CM_NOT_FOUND',
  [`warning|not-found structure-map-transform ${R}.target[0]`],
  transform('translate', V('d'), S('http://a.test/ConceptMap/none'), S('code')),
)
add(
  'translates by a map that it does not contain: SM_TARGET_TRANSFORM_TRANSLATE_CM_NOT_FOUND',
  [`error|not-found structure-map-transform ${R}.target[0]`],
  transform('translate', V('d'), S('#x'), S('code')),
)
add(
  'translates by what it contains that is no ConceptMap: SM_TARGET_TRANSFORM_TRANSLATE_CM_NOT_FOUND',
  [`error|not-found structure-map-transform ${R}.target[0]`],
  map([group([rule(from('birthDate', 'd'), to('birthDate', { transform: 'translate', parameter: [V('d'), S('#x'), S('code')] }))])], {
    contained: [{ resourceType: 'ValueSet', id: 'x', status: 'draft' }],
  }),
)

const SYSTEM = 'http://c.test/CodeSystem/c'
const CODES = [
  { resourceType: 'CodeSystem', url: SYSTEM, status: 'draft', content: 'complete', concept: ['a', 'b', 'c'].map((code) => ({ code })) },
  valueSet('ab', [{ system: SYSTEM, concept: [{ code: 'a' }, { code: 'b' }] }]),
  valueSet('abc', [{ system: SYSTEM }]),
  valueSet('unknown', [{ system: 'http://c.test/CodeSystem/unknown' }]),
  {
    resourceType: 'StructureDefinition',
    url: 'http://c.test/StructureDefinition/Lm',
    name: 'Lm',
    status: 'draft',
    kind: 'logical',
    abstract: false,
    type: 'http://c.test/StructureDefinition/Lm',
    baseDefinition: `${SD}Element`,
    derivation: 'specialization',
    differential: {
      element: [
        { path: 'Lm', min: 0, max: '*' },
        ...['ab', 'abc', 'unknown', 'missing'].map((name) => bound(name, 'required')),
        { ...bound('ab', 'extensible'), path: 'Lm.extensible' },
        { path: 'Lm.unbound', min: 0, max: '1', type: [{ code: 'code' }] },
      ],
    },
  },
]
function valueSet(name: string, include: readonly JsonObject[]): JsonObject {
  return { resourceType: 'ValueSet', url: `http://c.test/ValueSet/${name}`, status: 'draft', compose: { include } }
}
function bound(name: string, strength: string): JsonObject {
  return {
    path: `Lm.${name}`,
    min: 0,
    max: '1',
    type: [{ code: 'code' }],
    binding: { strength, valueSet: `http://c.test/ValueSet/${name}` },
  }
}
/** A map of concepts that has these, and maps each of them to itself. */
const concepts = (codes: readonly string[], more: JsonObject = {}): JsonObject => ({
  resourceType: 'ConceptMap',
  url: 'http://c.test/ConceptMap/m',
  status: 'draft',
  group: [{ source: SYSTEM, target: SYSTEM, element: codes.map((code) => ({ code, target: [{ code, equivalence: 'equal' }] })), ...more }],
})
const translation = (source: string, target: string): JsonObject =>
  map(
    [
      group(
        [rule(from(source, 'd'), to(target, { transform: 'translate', parameter: [V('d'), S('http://c.test/ConceptMap/m'), S('code')] }))],
        {
          input: [
            { name: 'src', type: 'In', mode: 'source' },
            { name: 'tgt', type: 'Out', mode: 'target' },
          ],
        },
      ),
    ],
    {
      structure: ['source', 'target'].map((mode) => ({
        url: 'http://c.test/StructureDefinition/Lm',
        mode,
        alias: mode === 'source' ? 'In' : 'Out',
      })),
    },
  )
const NOT_CHECKED = `warning|invalid structure-map-translation ${R}.target[0]`
for (const [what, source, target, translated, expected] of [
  ['all codes to codes that are allowed', 'ab', 'abc', concepts(['a', 'b']), []],
  ['all codes of a code system', 'abc', 'abc', concepts(['a', 'b', 'c']), []],
  ['not all codes: SM_TARGET_TRANSLATE_BINDING_SOURCE_UNMAPPED', 'abc', 'abc', concepts(['a', 'b']), [NOT_CHECKED]],
  [
    'codes without a target: SM_TARGET_TRANSLATE_BINDING_SOURCE_UNMAPPED',
    'ab',
    'ab',
    { ...concepts(['a']), group: undefined },
    [NOT_CHECKED],
  ],
  ['the rest as it is', 'abc', 'abc', concepts(['a'], { unmapped: { mode: 'provided' } }), []],
  ['the rest to one code', 'abc', 'ab', concepts(['a'], { unmapped: { mode: 'fixed', code: 'b' } }), []],
  [
    'the rest to a code that is not allowed: SM_TARGET_TRANSLATE_BINDING_TARGET_WRONG',
    'abc',
    'ab',
    concepts(['a'], { unmapped: { mode: 'fixed', code: 'c' } }),
    [NOT_CHECKED],
  ],
  ['a code to one that is not allowed: SM_TARGET_TRANSLATE_BINDING_TARGET_WRONG', 'abc', 'ab', concepts(['a', 'b', 'c']), [NOT_CHECKED]],
  ['what need not be of a value set: SM_TARGET_TRANSLATE_BINDING_SOURCE', 'extensible', 'ab', concepts(['a']), [NOT_CHECKED]],
  ['what is of no value set: SM_TARGET_TRANSLATE_BINDING_SOURCE', 'unbound', 'ab', concepts(['a']), [NOT_CHECKED]],
  ['to what need not be of a value set: SM_TARGET_TRANSLATE_BINDING_TARGET', 'ab', 'extensible', concepts(['a', 'b']), [NOT_CHECKED]],
  ['what is of an unknown value set: SM_TARGET_TRANSLATE_BINDING_VS_SOURCE', 'missing', 'ab', concepts(['a']), [NOT_CHECKED]],
  ['to an unknown value set: SM_TARGET_TRANSLATE_BINDING_VS_TARGET', 'ab', 'missing', concepts(['a', 'b']), [NOT_CHECKED]],
  ['codes that are not known: SM_TARGET_TRANSLATE_BINDING_VSE_SOURCE', 'unknown', 'ab', concepts(['a']), [NOT_CHECKED]],
  ['to codes that are not known: SM_TARGET_TRANSLATE_BINDING_VSE_TARGET', 'ab', 'unknown', concepts(['a', 'b']), [NOT_CHECKED]],
] as const)
  add(`translates ${what}`, expected, translation(source, target), [...CODES, translated])
add(
  'creates what there is none: SM_TARGET_TYPE_UNKNOWN, SM_TARGET_TRANSFORM_TYPE_UNKNOWN',
  WRONG,
  only(from('birthDate', 'd'), { variable: 'q', transform: 'create', parameter: [S('Foo')] }),
)

add('calls a group', [], map([group([calling('name', 'Names', 'n', 'm')]), names()]))
add(
  'calls a group that there is none: SM_RULEGROUP_NOT_FOUND',
  [`error|not-found structure-map-call ${R}.dependent[0]`],
  map([group([calling('name', 'Nope', 'n', 'm')])]),
)
add(
  'calls a group that an unknown import may have',
  ['warning|invalid structure-map-import StructureMap.import[0]', `warning|not-found structure-map-call ${R}.dependent[0]`],
  map([group([calling('name', 'Nope', 'n', 'm')])], { import: ['http://b.test/none'] }),
)
add(
  'extends a group that there is none: SM_RULEGROUP_NOT_FOUND',
  ['error|not-found structure-map-call StructureMap.group[0].extends'],
  map([group([rule(from('name', 'n'))], { extends: 'Nope' })]),
)
add(
  'calls a group with too little: SM_RULEGROUP_PARAM_COUNT_MISMATCH',
  [`error|invalid structure-map-call ${R}.dependent[0]`],
  map([group([calling('name', 'Names', 'n')]), names()]),
)
add(
  'calls a group with a variable that there is none: SM_DEPENDENT_PARAM_NOT_FOUND',
  [`error|invalid structure-map-call ${R}.dependent[0].variable[1]`],
  map([group([calling('name', 'Names', 'm', 'n')]), names()]),
)
add(
  'calls a group with another type: SM_DEPENDENT_PARAM_TYPE_MISMATCH',
  [`error|invalid structure-map-call ${R}.dependent[0].variable[0]`],
  map([group([calling('address', 'Names', 'n', 'm')]), names()]),
)
add(
  'calls a group without types, which is checked by what it is called with',
  ['error|invalid structure-map-path StructureMap.group[0].rule[0].source[0]'],
  map([
    names({ input: UNTYPED, rule: [rule({ context: 'a', element: 'famly', variable: 'f' })] }),
    group([calling('name', 'Names', 'n', 'm')]),
  ]),
)
add(
  'calls a group without types with other types: SM_DEPENDENT_PARAM_TYPE_MISMATCH_DUPLICATE',
  ['warning|invalid structure-map-call StructureMap.group[0].rule[1].dependent[0]'],
  map([
    group([calling('name', 'Names', 'n', 'm'), calling('address', 'Names', 'n', 'm')]),
    names({ input: UNTYPED, rule: [rule({ context: 'a', variable: 'f' })] }),
  ]),
)
add(
  'calls a group of another map with other types',
  [],
  map([group([calling('name', 'Names', 'n', 'm'), calling('address', 'Names', 'n', 'm')])], { import: [LIBRARY.url] }),
  [{ ...LIBRARY, group: [names({ input: UNTYPED, rule: [rule({ context: 'a', variable: 'f' })] })] }],
)

/** What the mapping language makes of `src.name -> tgt.name`. */
const plain = (element: string): JsonObject =>
  rule(from(element, 'vvv'), to('name', { variable: 'vvv', transform: 'create' }), {
    dependent: [{ name: 'DefaultMappingGroupAnonymousAlias', variable: ['vvv', 'vvv'] }],
  })
add('leaves the group to the types', [], map([group([plain('name')]), names({ typeMode: 'types' })]))
add(
  'leaves the group to types that have none: SM_MATCHING_RULEGROUP_NOT_FOUND',
  [`error|not-found structure-map-call ${R}.dependent[0]`],
  map([group([plain('address')])], { import: [LIBRARY.url] }),
  [LIBRARY],
)

for (const [source, target] of [
  ['value', 'value'],
  ['status', 'value'],
] as const)
  add(
    `leaves the group to types that are known only when it runs, from ${source} to ${target}: SM_SOURCE_TYPE_NOT_FOUND, SM_TARGET_TYPE_NOT_FOUND`,
    [`warning|invalid structure-map-path ${R}.target[0]`, `warning|not-found structure-map-call ${R}.dependent[0]`],
    map([
      group(
        [
          rule(from(source, 'vvv'), to(target, { variable: 'vvv', transform: 'create' }), {
            dependent: [{ name: 'DefaultMappingGroupAnonymousAlias', variable: ['vvv', 'vvv'] }],
          }),
        ],
        {
          input: [
            { name: 'src', type: 'Observation', mode: 'source' },
            { name: 'tgt', type: 'Observation', mode: 'target' },
          ],
        },
      ),
    ]),
  )

for (const name of ['constructor', 'toString', '__proto__'])
  add(`has a transform with the name of a member that every object has: ${name}`, [], transform(name, V('d')))
