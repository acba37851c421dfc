import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { jsonOf } from '../fhir/resources.js'
import { table } from '../pictures/table.js'
import { verdict } from '../pictures/verdict.js'
import weightProfile from '../samples/weight-profile.json?raw'
import { textOf, type OperationPage } from './operation-page.js'
import { literal, program } from './program.js'

const PROFILE = 'definition'

/** `$snapshot`: a profile with all elements of its base. */
export const snapshotPage: OperationPage = {
  id: 'snapshot',
  title: '$snapshot',
  group: 'Resources',
  purpose: 'Apply the differential of a profile to its base. Nothing is stored.',
  fields: [],
  editors: [
    { name: PROFILE, label: 'Profile', language: 'json', hint: 'A StructureDefinition with a differential. Its base is one of R4.' },
  ],
  samples: [{ id: 'weight', title: 'An Observation that must have a quantity', fields: {}, texts: { [PROFILE]: weightProfile } }],
  call(input) {
    const resource = jsonOf(textOf(input, PROFILE))
    const parameters = { resourceType: 'Parameters', parameter: [{ name: PROFILE, resource }] }
    const text = JSON.stringify(parameters, null, 1)
    return { method: 'POST', path: '/StructureDefinition/$snapshot', body: { type: 'application/fhir+json', text } }
  },
  code: (input) =>
    program({
      imports: { 'fhir-ops/snapshot': 'generateSnapshot' },
      lines: [
        `const profile = ${literal(profileIn(textOf(input, PROFILE)))}`,
        'const { definition, problems } = await generateSnapshot(ctx, { definition: profile })',
        "console.log(definition['snapshot'], problems)",
      ],
    }),
  picture: ({ json }) => snapshotPicture(isObject(json) ? json : {}),
}

/** What is being typed may not be JSON yet. */
function profileIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function snapshotPicture(definition: JsonObject): HTMLElement {
  const changed = new Set(objectsAt(objectAt(definition, 'differential'), 'element').map((one) => stringAt(one, 'path')))
  const elements = objectsAt(objectAt(definition, 'snapshot'), 'element')
  const rows = elements.map((one) => [
    changed.has(stringAt(one, 'path')) ? element('strong', {}, stringAt(one, 'id') ?? '') : (stringAt(one, 'id') ?? ''),
    `${typeof one['min'] === 'number' ? one['min'] : ''}..${stringAt(one, 'max') ?? ''}`,
    objectsAt(one, 'type')
      .map((type) => stringAt(type, 'code') ?? '')
      .join(', '),
    stringAt(one, 'short') ?? '',
  ])
  const summary = `${elements.length} elements; those of the differential are bold`
  return element('div', {}, verdict('plain', summary), table(['Element', 'Count', 'Type', 'Meaning'], rows))
}
