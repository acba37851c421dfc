import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { table } from '../pictures/table.js'
import { verdict } from '../pictures/verdict.js'
import visitPriority from '../samples/visit-priority.json?raw'
import { fieldOf, textOf, type Input, type OperationPage } from './operation-page.js'
import { literal, program } from './program.js'

const ROLES = 'http://terminology.hl7.org/CodeSystem/v3-RoleCode'
const CONTENT = 'content'

/** `$closure`: a table of which codes are below which, made anew with every run. */
export const closurePage: OperationPage = {
  id: 'closure',
  title: '$closure',
  group: 'Terminology',
  purpose: 'Make a closure table: which of your codes are below which. A table of this name is emptied first.',
  fields: [
    { name: 'name', label: 'Name of the table' },
    { name: 'codes', label: 'Codes', placeholder: 'MTH, FTH' },
    { name: 'system', label: 'Code system', wide: true },
  ],
  editors: [
    {
      name: CONTENT,
      label: 'Stored resources',
      language: 'json',
      hint: 'Code systems. In the browser they are stored for the call; a server has its own, and stores these when you ask it to.',
      isOptional: true,
    },
  ],
  stored: CONTENT,
  isManual: true,
  samples: [
    {
      id: 'family',
      title: 'Members of a family',
      fields: { name: 'playground', codes: 'MTH, FTH, PRN, FAMMEMB, MTHFOST', system: ROLES },
      texts: {},
    },
    {
      id: 'own',
      title: 'A code system of your own',
      fields: {
        name: 'playground',
        codes: 'unplanned, urgent, emergency',
        system: 'http://example.org/fhir/CodeSystem/visit-priority',
      },
      texts: { [CONTENT]: visitPriority },
    },
  ],
  call: (input) => ({
    method: 'POST',
    path: '',
    body: { type: 'application/fhir+json', text: JSON.stringify(batchOf(input), null, 1) },
    stored: textOf(input, CONTENT),
  }),
  code(input) {
    const [name, concepts] = [fieldOf(input, 'name'), conceptsOf(input)]
    return program({
      imports: { 'fhir-ops/closure': 'closure' },
      content: textOf(input, CONTENT),
      lines: [
        `await closure(ctx, ${literal({ name })})`,
        `const result = await closure(ctx, ${literal({ name, concepts })})`,
        'console.log(result.version, result.entries)',
      ],
    })
  },
  picture: ({ json }) => closurePicture(objectsAt(isObject(json) ? json : {}, 'entry').at(-1)),
}

function conceptsOf(input: Input): readonly { readonly system: string; readonly code: string }[] {
  const system = fieldOf(input, 'system')
  const codes = fieldOf(input, 'codes').split(/[\s,]+/)
  return codes.filter((code) => code !== '').map((code) => ({ system, code }))
}

/** Empties the table, and adds the codes to it. */
function batchOf(input: Input): object {
  const name = { name: 'name', valueString: fieldOf(input, 'name') }
  const concepts = conceptsOf(input).map((valueCoding) => ({ name: 'concept', valueCoding }))
  const entry = [[name], [name, ...concepts]].map((parameter) => ({
    resource: { resourceType: 'Parameters', parameter },
    request: { method: 'POST', url: '$closure' },
  }))
  return { resourceType: 'Bundle', type: 'batch', entry }
}

function closurePicture(entry: JsonObject | undefined): HTMLElement {
  const problems = objectsAt(objectAt(objectAt(entry, 'response'), 'outcome'), 'issue')
  if (problems.length > 0) return element('div', {}, ...problems.map((issue) => verdict('bad', issueText(issue))))
  const map = objectAt(entry, 'resource')
  const rows = objectsAt(map, 'group').flatMap((group) =>
    objectsAt(group, 'element').flatMap((below) =>
      objectsAt(below, 'target').map((above) => [stringAt(below, 'code'), stringAt(above, 'code')]),
    ),
  )
  const summary = `${rows.length} ${rows.length === 1 ? 'pair' : 'pairs'} · version ${stringAt(map, 'version') ?? ''} of the table`
  return element('div', {}, verdict('plain', summary), table(['Code', 'is below'], rows))
}

function issueText(issue: JsonObject): string {
  return stringAt(objectAt(issue, 'details'), 'text') ?? stringAt(issue, 'diagnostics') ?? ''
}
