import { isObject, stringAt } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { issuesIn } from '../fhir/outcome.js'
import { partsOf, valueOf, type Parameter } from '../fhir/parameters.js'
import { findingsPicture } from '../pictures/findings.js'
import { table } from '../pictures/table.js'
import { verdict } from '../pictures/verdict.js'
import patients from '../samples/patients.json?raw'
import { fieldOf, textOf, type OperationPage } from './operation-page.js'
import { contentOf, literal } from './program.js'

/** `$cql`: the value of an expression. */
export const cqlPage: OperationPage = {
  id: 'cql',
  title: '$cql',
  group: 'Measures',
  purpose: 'Evaluate an expression in Clinical Quality Language.',
  fields: [{ name: 'subject', label: 'Subject', placeholder: 'Patient/<id>, or none', wide: true }],
  editors: [
    {
      name: 'expression',
      label: 'Expression',
      language: 'cql',
      hint: 'The first one takes some seconds: the translator of CQL is loaded for it.',
    },
    { name: 'data', label: 'Data', language: 'json', hint: 'A Bundle that is evaluated over.', isOptional: true },
  ],
  samples: [
    {
      id: 'dates',
      title: 'Dates and intervals',
      fields: {},
      texts: { expression: 'difference in months between @2020-01-31 and @2026-12-01' },
    },
    {
      id: 'list',
      title: 'A query over a list',
      fields: {},
      texts: { expression: 'from ({ 118, 152, 134, 128 }) V\n  where V < 140\n  return V * 2\n  sort desc' },
    },
    {
      id: 'observations',
      title: 'The observations of a Bundle',
      fields: {},
      texts: { expression: "from [Observation] O\n  where O.status = 'final'\n  return (O.value as Quantity)", data: patients },
    },
  ],
  call(input) {
    const data = textOf(input, 'data').trim()
    const parameter = [
      { name: 'expression', valueString: textOf(input, 'expression') },
      ...(fieldOf(input, 'subject') === '' ? [] : [{ name: 'subject', valueString: fieldOf(input, 'subject') }]),
      ...(data === '' ? [] : [{ name: 'data', resource: readJson(data) }]),
      { name: '_explain', valueBoolean: true },
    ]
    const text = JSON.stringify({ resourceType: 'Parameters', parameter }, null, 1)
    return { method: 'POST', path: '/$cql', body: { type: 'application/fhir+json', text } }
  },
  code(input) {
    const data = textOf(input, 'data').trim()
    const subject = fieldOf(input, 'subject')
    const given = { expression: textOf(input, 'expression'), ...(subject !== '' && { subject }) }
    return [
      "import { createContext } from 'fhir-ops/context'",
      "import { evaluateCql, literalText } from '@fhir-ops/cql'",
      "import { createTranslator } from '@fhir-ops/cql/translator'",
      "import { memoryStorage } from 'fhir-ops/memory'",
      "import { r4 } from '@fhir-ops/r4'",
      '',
      ...(data === '' ? [] : [`const data = ${JSON.stringify(contentOf(data), null, 2)}`]),
      'const { types, ...release } = r4()',
      'const ctx = createContext({ storage: memoryStorage(), types, ...release })',
      'const translator = await createTranslator({ model: types })',
      `const input = ${data === '' ? literal(given) : literal(given).replace(/ ?\}$/, ', data }')}`,
      'const { values } = await evaluateCql(ctx, input, { translator })',
      "console.log(literalText(values.get('return') ?? null))",
      '',
    ].join('\n')
  },
  picture: ({ json }) => valuesPicture(json),
}

function readJson(text: string): unknown {
  return JSON.parse(text)
}

function valuesPicture(json: unknown): HTMLElement {
  const values = (isObject(json) ? partsOf(json) : []).filter((value) => stringAt(value, 'name') !== 'explanation')
  const failure = values.map((value) => issuesIn(value['resource'])).find((issues) => issues !== undefined)
  if (failure !== undefined) return element('div', {}, verdict('bad', 'The evaluation failed.'), findingsPicture(failure))
  const title = values.length === 1 ? '1 value' : `${values.length} values`
  return element(
    'div',
    {},
    verdict('good', title),
    table(
      ['Name', 'Value'],
      values.map((value) => [stringAt(value, 'name'), valueElement(value)]),
    ),
  )
}

function valueElement(parameter: Parameter): HTMLElement {
  const { resource } = parameter
  const parts = partsOf(parameter)
  const value = resource ?? valueOf(parameter) ?? (parts.length > 0 ? parts : null)
  const line = lineOf(value)
  if (line !== undefined) return element('code', {}, line)
  return element('pre', { class: 'value' }, JSON.stringify(value, null, 1))
}

/** A value that fits on a line: a primitive, or a quantity as CQL writes it. */
function lineOf(value: unknown): string | undefined {
  if (!isObject(value)) return Array.isArray(value) ? undefined : JSON.stringify(value)
  const { value: amount } = value
  const unit = stringAt(value, 'code') ?? stringAt(value, 'unit') ?? '1'
  return typeof amount === 'number' ? `${amount} '${unit}'` : undefined
}
