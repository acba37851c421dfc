import { isObject } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { textAt } from '../fhir/parameters.js'
import { vennPicture } from '../pictures/venn.js'
import { verdict } from '../pictures/verdict.js'
import twoTeams from '../samples/two-teams.json?raw'
import { fieldOf, type Input, type OperationPage } from './operation-page.js'
import { literal, program } from './program.js'
import { DEFINITIONS, fromFields, terminologyCall } from './terminology-call.js'

const RESOURCE_TYPES = 'http://hl7.org/fhir/ValueSet/resource-types'

/** `$compare`: how the codes of two value sets relate. */
export const comparePage: OperationPage = {
  id: 'compare',
  title: '$compare',
  group: 'Terminology',
  purpose: 'Compare the codes of two value sets.',
  fields: [
    { name: 'thisUrl', label: 'This value set', wide: true },
    { name: 'otherUrl', label: 'The other one', wide: true },
  ],
  editors: [DEFINITIONS],
  samples: [
    {
      id: 'own',
      title: 'Two value sets of your own that overlap',
      fields: { thisUrl: 'http://example.org/fhir/ValueSet/team-north', otherUrl: 'http://example.org/fhir/ValueSet/team-south' },
      texts: { definitions: twoTeams },
    },
    {
      id: 'types',
      title: 'Resource types and all types',
      fields: { thisUrl: RESOURCE_TYPES, otherUrl: 'http://hl7.org/fhir/ValueSet/defined-types' },
      texts: {},
    },
    {
      id: 'disjoint',
      title: 'Value sets that have nothing in common',
      fields: { thisUrl: RESOURCE_TYPES, otherUrl: 'http://hl7.org/fhir/ValueSet/administrative-gender' },
      texts: {},
    },
  ],
  call: (input) =>
    terminologyCall(
      '/ValueSet/$compare',
      [...fromFields(input, { thisUrl: 'Uri', otherUrl: 'Uri' }), ['diagnostics', 'Boolean', 'true']],
      input,
    ),
  code(input) {
    const compared = { thisValueSet: { url: fieldOf(input, 'thisUrl') }, otherValueSet: { url: fieldOf(input, 'otherUrl') } }
    return program({
      imports: { 'fhir-ops/compare': 'compare' },
      content: input.texts[DEFINITIONS.name] ?? '',
      lines: [`const result = await compare(ctx, ${literal(compared)})`, 'console.log(result)'],
    })
  },
  picture: ({ json }, { input }) => comparisonPicture(json, input),
}

const LISTS = [
  ['missing-codes', 'Only in this one'],
  ['common-codes', 'In both'],
  ['extra-codes', 'Only in the other'],
] as const

function comparisonPicture(json: unknown, input: Input): HTMLElement {
  const parameters = isObject(json) ? json : {}
  const relation = textAt(parameters, 'result') ?? ''
  const codes = (name: string): readonly string[] =>
    textAt(parameters, name)
      ?.split(',')
      .filter((code) => code !== '') ?? []
  const lists = LISTS.map(([name, title]) => ({ title, codes: codes(name) }))
  const [left, both, right] = lists.map((list) => list.codes.length)
  const counts = lists.some((list) => list.codes.length > 0) ? { left: left ?? 0, both: both ?? 0, right: right ?? 0 } : undefined
  return element(
    'div',
    {},
    verdict(relation === 'indeterminate' ? 'warn' : 'plain', element('strong', {}, relation), ` · ${textAt(parameters, 'message') ?? ''}`),
    vennPicture({
      relation,
      left: lastPart(fieldOf(input, 'thisUrl')),
      right: lastPart(fieldOf(input, 'otherUrl')),
      ...(counts !== undefined && { counts }),
    }),
    element(
      'div',
      { class: 'code-lists' },
      ...lists.filter((list) => list.codes.length > 0).map(({ title, codes: listed }) => codeList(title, listed)),
    ),
  )
}

function codeList(title: string, codes: readonly string[]): HTMLElement {
  return element(
    'section',
    {},
    element('h2', { class: 'small-title' }, `${title} (${codes.length})`),
    element('ul', { class: 'chips' }, ...codes.map((code) => element('li', { class: 'chip plain' }, code))),
  )
}

function lastPart(url: string): string {
  return url.split('/').at(-1) ?? url
}
