import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { button, element } from '../dom/element.js'
import type { Call } from '../engine/call.js'
import { explanationIn } from '../fhir/explanation.js'
import { barsPicture, type Bar } from '../pictures/bars.js'
import { reasonsPicture } from '../pictures/reasons.js'
import { verdict } from '../pictures/verdict.js'
import bloodPressure from '../samples/blood-pressure.json?raw'
import seniors from '../samples/seniors.json?raw'
import { fieldOf, textOf, type Input, type OperationPage, type PictureHost } from './operation-page.js'
import { literal, program } from './program.js'

const CONTENT = 'content'
const FIELDS = ['measure', 'periodStart', 'periodEnd', 'subject', 'practitioner']

/** `$evaluate-measure`: populations as bars that open to their members. */
export const evaluateMeasurePage: OperationPage = {
  id: 'evaluate-measure',
  title: '$evaluate-measure',
  group: 'Measures',
  purpose: 'Count the populations of a measure over a period.',
  fields: [
    { name: 'measure', label: 'Measure', placeholder: 'Measure/<id> or its url', wide: true },
    { name: 'periodStart', label: 'From', placeholder: '2026-01-01' },
    { name: 'periodEnd', label: 'To', placeholder: '2026-12-31' },
    { name: 'subject', label: 'Subject', placeholder: 'all' },
  ],
  editors: [
    {
      name: CONTENT,
      label: 'Stored resources',
      language: 'json',
      hint: 'The measure and what it counts. In the browser they are stored for the call; a server counts what it has, and stores these when you ask it to.',
    },
  ],
  stored: CONTENT,
  samples: [
    {
      id: 'blood-pressure',
      title: 'A proportion, divided by gender',
      fields: { measure: 'Measure/blood-pressure', periodStart: '2026-01-01', periodEnd: '2026-12-31' },
      texts: { content: bloodPressure },
    },
    {
      id: 'one',
      title: 'The same for one patient',
      fields: { measure: 'Measure/blood-pressure', periodStart: '2026-01-01', periodEnd: '2026-12-31', subject: 'Patient/ben' },
      texts: { content: bloodPressure },
    },
    {
      id: 'cql',
      title: 'Criteria in CQL',
      fields: { measure: 'Measure/seniors', periodStart: '2026-01-01', periodEnd: '2026-12-31' },
      texts: { content: seniors },
    },
  ],
  call(input) {
    return callOf(input)
  },
  code: measureProgram,
  picture: ({ json }, host) => reportPicture(isObject(json) ? json : {}, host),
}

/** The call, for one subject where one is given. */
function callOf(input: Input, one?: string): Call {
  const values = FIELDS.map((name) => [name, name === 'subject' ? (one ?? fieldOf(input, name)) : fieldOf(input, name)])
  const query = new URLSearchParams(values.filter(([, value]) => value !== ''))
  if (!query.has('subject')) query.set('reportType', 'subject-list')
  query.set('_explain', 'true')
  return { method: 'GET', path: `/Measure/$evaluate-measure?${query}`, stored: textOf(input, CONTENT) }
}

function measureProgram(input: Input): string {
  const given = Object.fromEntries(FIELDS.map((name) => [name, fieldOf(input, name)]).filter(([, value]) => value !== ''))
  const content = textOf(input, CONTENT)
  if (!content.includes('"text/cql')) {
    const lines = [`const result = await evaluateMeasure(ctx, ${literal(given)})`, 'console.log(result)']
    return program({ imports: { 'fhir-ops/evaluate': 'evaluateMeasure' }, content, lines })
  }
  return program({
    imports: {
      'fhir-ops/evaluate': 'evaluateMeasure',
      '@fhir-ops/cql': 'cqlLanguage',
      '@fhir-ops/cql/translator': 'createTranslator',
    },
    content,
    lines: [
      'const languages = [cqlLanguage({ translator: await createTranslator({ model: release.types }) })]',
      `const result = await evaluateMeasure(ctx, ${literal(given)}, { languages })`,
      'console.log(result)',
    ],
  })
}

function reportPicture(report: JsonObject, host: PictureHost): HTMLElement {
  const period = objectAt(report, 'period')
  const groups = objectsAt(report, 'group')
  return element(
    'div',
    {},
    verdict(
      'plain',
      `${stringAt(report, 'type') === 'individual' ? 'One subject' : 'All subjects'}, ${stringAt(period, 'start')} to ${stringAt(period, 'end')}`,
    ),
    ...groups.map((group) => groupPicture(report, group, host)),
  )
}

function groupPicture(report: JsonObject, group: JsonObject, host: PictureHost): HTMLElement {
  const score = objectAt(group, 'measureScore')?.['value']
  const bars = (holder: JsonObject): HTMLElement =>
    barsPicture(objectsAt(holder, 'population').map((population) => barOf(report, population, host)))
  return element(
    'section',
    { class: 'measure-group' },
    typeof score === 'number' && element('p', { class: 'score' }, element('strong', {}, scoreText(score)), ' score'),
    bars(group),
    ...objectsAt(group, 'stratifier').map((stratifier) => {
      const title = stringAt(objectsAt(stratifier, 'code')[0], 'text') ?? 'Strata'
      const strata = objectsAt(stratifier, 'stratum').map((stratum) =>
        element('div', { class: 'stratum' }, element('h2', {}, stratumTitle(stratum)), bars(stratum)),
      )
      return element('details', { class: 'strata', open: true }, element('summary', {}, `By ${title}`), ...strata)
    }),
  )
}

function scoreText(score: number): string {
  return score >= 0 && score <= 1 ? `${Math.round(score * 1000) / 10} %` : String(Math.round(score * 1000) / 1000)
}

function stratumTitle(stratum: JsonObject): string {
  const score = objectAt(stratum, 'measureScore')?.['value']
  const title = stringAt(objectAt(stratum, 'value'), 'text') ?? ''
  return typeof score === 'number' ? `${title} · ${scoreText(score)}` : title
}

function barOf(report: JsonObject, population: JsonObject, host: PictureHost): Bar {
  const coding = objectsAt(objectAt(population, 'code'), 'coding')[0]
  const id = stringAt(objectAt(population, 'subjectResults'), 'reference')?.slice(1)
  const list = objectsAt(report, 'contained').find((resource) => id !== undefined && resource['id'] === id)
  const members = objectsAt(list, 'entry').map((entry) => stringAt(objectAt(entry, 'item'), 'reference') ?? '')
  return {
    label: stringAt(coding, 'display') ?? stringAt(coding, 'code') ?? 'population',
    count: Number(population['count'] ?? 0),
    ...(members.length > 0 && { open: () => membersPicture(members, host) }),
  }
}

/** So many members are listed; the answer has all. */
const MOST_MEMBERS = 200

function membersPicture(members: readonly string[], { ask, input }: PictureHost): HTMLElement {
  const shown = element('div', { class: 'member' })
  const open = async (reference: string): Promise<void> => {
    const { text, json } = await ask({ method: 'GET', path: `/${reference}`, stored: textOf(input, CONTENT) })
    const why = reference.startsWith('Patient/') ? explanationIn((await ask(callOf(input, reference))).json) : undefined
    shown.replaceChildren(
      ...(why === undefined || why.criteria.length === 0 ? [] : [reasonsPicture(why.criteria, why.source)]),
      element('pre', { tabindex: 0, 'aria-label': reference, role: 'group' }, json === undefined ? text : JSON.stringify(json, null, 2)),
    )
  }
  const items = members.slice(0, MOST_MEMBERS).map((reference) =>
    element(
      'li',
      {},
      button(reference, () => void open(reference), { class: 'chip' }),
    ),
  )
  return element('div', {}, element('ul', { class: 'chips' }, ...items), shown)
}
