import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('a concept map', /^concept-map-/)
let n = 0
const HL7 = 'http://hl7.org/fhir/'
const cs = (m: JsonObject = {}): JsonObject => ({
  resourceType: 'CodeSystem',
  url: 'http://a.org/cms' + ++n,
  status: 'active',
  content: 'complete',
  caseSensitive: true,
  concept: [
    { code: 'a', display: 'Alpha' },
    { code: 'b', display: 'Beta' },
  ],
  ...m,
})
const cm = (group: JsonObject, m: JsonObject = {}): JsonObject => ({
  resourceType: 'ConceptMap',
  url: 'http://a.org/m' + ++n,
  status: 'active',
  group: [group],
  ...m,
})
const A = HL7 + 'administrative-gender'
const g = (...element: readonly JsonObject[]): JsonObject => ({ source: A, target: A, element })
const el = (code: string, ...t: readonly (readonly [(string | undefined)?, string?, string?])[]): JsonObject => ({
  code,
  target: t.map(([c, e = 'equivalent', d]) => ({
    ...(c && { code: c }),
    equivalence: e,
    ...(d && { display: d }),
    ...(e === 'x' && { comment: 'c' }),
  })),
})
add('ok', [], cm(g(el('male', ['female']))))
add(
  'src unk: CONCEPTMAP_GROUP_SOURCE_CODE_INVALID',
  ['error|required concept-map-code ConceptMap.group[0].element[0].code'],
  cm(g(el('zz', ['female']))),
)
add(
  'tgt unk: CONCEPTMAP_GROUP_TARGET_CODE_INVALID',
  ['error|required concept-map-code ConceptMap.group[0].element[0].target[0].code'],
  cm(g(el('male', ['zz']))),
)
add(
  'dup: CONCEPTMAP_GROUP_TARGET_DUPLICATION',
  ['warning|business-rule concept-map-duplicate ConceptMap.group[0].element[0].target[1]'],
  cm(g(el('male', ['female'], ['female']))),
)
add(
  'dup diff: CONCEPTMAP_GROUP_TARGET_DUPLICATION_DIFFERENT',
  ['warning|business-rule concept-map-duplicate ConceptMap.group[0].element[0].target[1]'],
  cm(g(el('male', ['female'], ['female', 'wider']))),
)
add(
  'dup el',
  ['warning|business-rule concept-map-duplicate ConceptMap.group[0].element[1].target[0]'],
  cm(g(el('male', ['female']), el('male', ['female']))),
)
add(
  'none',
  ['warning|business-rule concept-map-duplicate ConceptMap.group[0].element[0].target[1]'],
  cm(g(el('male', [undefined, 'unmatched'], ['female']))),
)
add(
  'none2',
  ['warning|business-rule concept-map-duplicate ConceptMap.group[0].element[0].target[1]'],
  cm(g(el('male', [undefined, 'unmatched'], [undefined, 'unmatched']))),
)
add('none3', [], cm(g(el('male', ['female'], [undefined, 'unmatched']))))
add(
  'no source: CONCEPTMAP_GROUP_SOURCE_MISSING, CONCEPTMAP_GROUP_TARGET_MISSING',
  ['warning|required concept-map-code ConceptMap.group[0]', 'warning|required concept-map-code ConceptMap.group[0]'],
  cm({ element: [el('a', ['b'])] }),
)
add(
  'unk sys: CONCEPTMAP_GROUP_SOURCE_UNKNOWN, CONCEPTMAP_GROUP_TARGET_UNKNOWN',
  ['warning|not-found concept-map-system ConceptMap.group[0].source', 'warning|not-found concept-map-system ConceptMap.group[0].target'],
  cm({ source: 'http://b.org/x', target: 'http://b.org/y', element: [el('a', ['b'])] }),
)
add(
  'scope notvs: CONCEPTMAP_VS_NOT_A_VS',
  ['error|invalid concept-map-system ConceptMap.source.ofType(canonical)'],
  cm(g(el('male', ['female'])), { sourceCanonical: A }),
)
add(
  'scope unk: CONCEPTMAP_VS_CONCEPT_CODE_UNKNOWN_SYSTEM',
  ['warning|business-rule concept-map-code ConceptMap.group[0].element[0].target[0].code'],
  cm(
    { source: 'http://b.org/x', target: 'http://b.org/y', element: [el('a', ['b'])] },
    { sourceCanonical: 'http://b.org/vs', targetCanonical: HL7 + 'ValueSet/administrative-gender' },
  ),
)
add(
  'scope out: CONCEPTMAP_GROUP_SOURCE_CODE_INVALID_VS',
  ['error|required concept-map-code ConceptMap.group[0].element[0].code'],
  cm(
    { source: A, target: A, element: [el('male', ['female'])] },
    { sourceCanonical: HL7 + 'ValueSet/contact-point-use', targetCanonical: HL7 + 'ValueSet/administrative-gender' },
  ),
)
{
  const c = cs({ content: 'fragment' })
  add(
    'frag: CONCEPTMAP_GROUP_SOURCE_INCOMPLETE, CONCEPTMAP_GROUP_TARGET_INCOMPLETE',
    ['warning|not-found concept-map-system ConceptMap.group[0].source', 'warning|not-found concept-map-system ConceptMap.group[0].target'],
    cm({ source: c.url, target: c.url, element: [el('a', ['zz'])] }),
    [c],
  )
}
{
  const c = cs({ content: 'not-present', concept: undefined })
  add(
    'np: CONCEPTMAP_GROUP_SOURCE_INCOMPLETE, CONCEPTMAP_GROUP_TARGET_INCOMPLETE',
    ['warning|not-found concept-map-system ConceptMap.group[0].source', 'warning|not-found concept-map-system ConceptMap.group[0].target'],
    cm({ source: c.url, target: c.url, element: [el('a', ['zz'])] }),
    [c],
  )
}
{
  const c = cs({ content: 'example' })
  add(
    'ex: CONCEPTMAP_GROUP_SOURCE_INCOMPLETE, CONCEPTMAP_GROUP_TARGET_INCOMPLETE',
    ['warning|not-found concept-map-system ConceptMap.group[0].source', 'warning|not-found concept-map-system ConceptMap.group[0].target'],
    cm({ source: c.url, target: c.url, element: [el('a', ['zz'])] }),
    [c],
  )
}
add(
  'sct: CONCEPTMAP_GROUP_TARGET_UNKNOWN',
  ['warning|not-found concept-map-system ConceptMap.group[0].target'],
  cm({ source: 'http://snomed.info/sct', target: 'http://loinc.org', element: [el('a', ['zz'])] }),
)
add(
  'sct scope: CONCEPTMAP_GROUP_TARGET_UNKNOWN',
  [
    'warning|not-found concept-map-system ConceptMap.group[0].target',
    'warning|business-rule concept-map-code ConceptMap.group[0].element[0].code',
  ],
  cm(
    { source: 'http://snomed.info/sct', target: 'http://loinc.org', element: [el('a', ['zz'])] },
    { sourceCanonical: HL7 + 'ValueSet/administrative-gender' },
  ),
)
add(
  'version bar: CONCEPTMAP_GROUP_TARGET_CODE_INVALID',
  ['error|required concept-map-code ConceptMap.group[0].element[0].target[0].code'],
  cm({ source: A + '|4.0.1', target: A, element: [el('male', ['zz'])] }),
)

const ONE_OF_TWO = cs({ version: '1' })
const TWO = [ONE_OF_TWO, { ...ONE_OF_TWO, version: '2' }]
const named = { source: String(ONE_OF_TWO['url']), target: A, element: [el('a', ['male'])] }
add(
  'several versions: TYPE_SPECIFIC_CHECKS_DT_CANONICAL_MULTIPLE_POSSIBLE_VERSIONS',
  ['warning|invalid concept-map-system ConceptMap.group[0]'],
  cm(named),
  TWO,
)
add('one of several versions', [], cm({ ...named, sourceVersion: '1' }), TWO)
