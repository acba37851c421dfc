import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { table } from '../pictures/table.js'
import { verdict } from '../pictures/verdict.js'
import bloodPressure from '../samples/blood-pressure.json?raw'
import seniors from '../samples/seniors.json?raw'
import { fieldOf, textOf, type Input, type OperationPage } from './operation-page.js'
import { literal, program } from './program.js'

const CONTENT = 'content'
const PERIOD = { periodStart: '2026-01-01', periodEnd: '2026-12-31' }
const FIELDS = ['measure', 'periodStart', 'periodEnd']

const SHARED: Pick<OperationPage, 'group' | 'fields' | 'editors' | 'stored' | 'samples'> = {
  group: 'Measures',
  fields: [
    { name: 'measure', label: 'Measure', placeholder: 'Measure/<id> or its url', wide: true },
    { name: 'periodStart', label: 'From', placeholder: '2026-01-01' },
    { name: 'periodEnd', label: 'To', placeholder: '2026-12-31' },
  ],
  editors: [
    {
      name: CONTENT,
      label: 'Stored resources',
      language: 'json',
      hint: 'The measure and the data. In the browser they are stored for the call; a server has its own, and stores these when you ask it to.',
    },
  ],
  stored: CONTENT,
  samples: [
    {
      id: 'blood-pressure',
      title: 'Criteria that are searches',
      fields: { measure: 'Measure/blood-pressure', ...PERIOD },
      texts: { [CONTENT]: bloodPressure },
    },
    { id: 'cql', title: 'Criteria in CQL', fields: { measure: 'Measure/seniors', ...PERIOD }, texts: { [CONTENT]: seniors } },
  ],
}

/** `$data-requirements`: what data a measure looks at. */
export const dataRequirementsPage: OperationPage = {
  ...SHARED,
  id: 'data-requirements',
  title: '$data-requirements',
  purpose: 'Say what data a measure looks at. No data is read.',
  call: (input) => callOf(input, '$data-requirements'),
  code: (input) => programOf(input, 'dataRequirements', 'console.log(result)'),
  picture({ json }) {
    const rows = objectsAt(isObject(json) ? json : {}, 'dataRequirement').map(cellsOf)
    return element('div', {}, verdict('plain', counted(rows.length, 'requirement')), table(['Type', 'Filter', 'Elements'], rows))
  },
}

/** `$collect-data`: the data that a measure looks at. */
export const collectDataPage: OperationPage = {
  ...SHARED,
  id: 'collect-data',
  title: '$collect-data',
  purpose: 'Collect the data that a measure looks at, with a report for those who evaluate it.',
  call: (input) => callOf(input, '$collect-data'),
  code: (input) => programOf(input, 'collectData', 'console.log(result.resources.map(({ type, id }) => `${type}/${id}`))'),
  picture({ json }) {
    const parameters = objectsAt(isObject(json) ? json : {}, 'parameter').filter((one) => one['name'] === 'resource')
    const rows = parameters.map((one) => addressOf(objectAt(one, 'resource')))
    return element('div', {}, verdict('plain', counted(rows.length, 'resource')), table(['Type', 'Id'], rows))
  },
}

function callOf(input: Input, operation: string): ReturnType<OperationPage['call']> {
  const query = new URLSearchParams(FIELDS.map((name) => [name, fieldOf(input, name)]).filter(([, value]) => value !== ''))
  return { method: 'GET', path: `/Measure/${operation}?${query}`, stored: textOf(input, CONTENT) }
}

function programOf(input: Input, name: string, shown: string): string {
  const given = Object.fromEntries(FIELDS.map((field) => [field, fieldOf(input, field)]).filter(([, value]) => value !== ''))
  const content = textOf(input, CONTENT)
  const isCql = content.includes('"text/cql')
  return program({
    imports: {
      'fhir-ops/evaluate': name,
      ...(isCql && { '@fhir-ops/cql': 'cqlLanguage', '@fhir-ops/cql/translator': 'createTranslator' }),
    },
    content,
    lines: [
      ...(isCql ? ['const languages = [cqlLanguage({ translator: await createTranslator({ model: release.types }) })]'] : []),
      `const result = await ${name}(ctx, ${literal(given)}${isCql ? ', { languages }' : ''})`,
      shown,
    ],
  })
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function addressOf(resource: JsonObject | undefined): readonly (string | undefined)[] {
  return [stringAt(resource, 'resourceType'), stringAt(resource, 'id')]
}

/** Type, filters and elements of a requirement. */
function cellsOf(requirement: JsonObject): readonly string[] {
  const filters = [...objectsAt(requirement, 'codeFilter'), ...objectsAt(requirement, 'dateFilter')].map(filterText)
  const elements = requirement['mustSupport']
  return [stringAt(requirement, 'type') ?? '', filters.join('; '), Array.isArray(elements) ? elements.join(', ') : '']
}

function filterText(filter: JsonObject): string {
  const path = stringAt(filter, 'path') ?? stringAt(filter, 'searchParam') ?? ''
  const period = objectAt(filter, 'valuePeriod')
  if (period !== undefined) return `${path} ${stringAt(period, 'start') ?? ''} to ${stringAt(period, 'end') ?? ''}`
  const codes = objectsAt(filter, 'code').flatMap((coding) => stringAt(coding, 'code') ?? [])
  const values = stringAt(filter, 'valueSet') ?? codes.join(', ')
  return values === '' ? path : `${path} in ${values}`
}
