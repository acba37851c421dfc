import { isObject, stringAt } from 'fhir-ops/internal/json'
import { button, element } from '../dom/element.js'
import { isError, issuesIn, type Issue } from '../fhir/outcome.js'
import { checkNoXml } from '../fhir/resources.js'
import { findingsPicture } from '../pictures/findings.js'
import { verdict } from '../pictures/verdict.js'
import broken from '../samples/broken.json?raw'
import observation from '../samples/observation.json?raw'
import patient from '../samples/patient-mistakes.json?raw'
import { fieldOf, textOf, type OperationPage, type PictureHost } from './operation-page.js'
import { literal } from './program.js'

const RESOURCE = 'resource'

/** `$validate`: findings in the editor, with their fixes. */
export const validatePage: OperationPage = {
  id: 'validate',
  title: '$validate',
  group: 'Resources',
  purpose: 'Check a resource against FHIR and its profiles, and fix what has one right answer.',
  fields: [
    { name: 'profile', label: 'Profile', placeholder: 'beside those of the resource', wide: true },
    {
      name: 'bestPractice',
      label: 'Best practices',
      kind: 'choice',
      choices: [
        ['', 'not checked'],
        ['information', 'as information'],
        ['warning', 'as warnings'],
        ['error', 'as errors'],
      ],
    },
    {
      name: 'level',
      label: 'Show',
      kind: 'choice',
      choices: [
        ['', 'all findings'],
        ['warning', 'warnings and errors'],
        ['error', 'errors only'],
      ],
    },
  ],
  editors: [
    { name: RESOURCE, label: 'Resource', language: 'json', hint: 'Findings are underlined; point at one, or press F8, for its fix.' },
  ],
  samples: [
    { id: 'patient', title: 'A patient with mistakes', fields: {}, texts: { resource: patient } },
    { id: 'heartrate', title: 'An observation against its profile', fields: {}, texts: { resource: observation } },
    { id: 'broken', title: 'A text that is no JSON', fields: {}, texts: { resource: broken } },
  ],
  call(input) {
    const query = new URLSearchParams({ places: 'true' })
    for (const name of ['profile', 'bestPractice', 'level']) if (fieldOf(input, name) !== '') query.set(name, fieldOf(input, name))
    const text = textOf(input, RESOURCE)
    return { method: 'POST', path: `/${typeIn(text)}/$validate?${query}`, body: { type: 'application/fhir+json', text } }
  },
  code(input) {
    const options = { bestPractice: fieldOf(input, 'bestPractice'), level: fieldOf(input, 'level') }
    const profiles = fieldOf(input, 'profile') === '' ? {} : { profiles: [fieldOf(input, 'profile')] }
    const given = { ...profiles, ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== '')), places: true }
    return [
      "import { createContext } from 'fhir-ops/context'",
      "import { memoryStorage } from 'fhir-ops/memory'",
      "import { validate } from 'fhir-ops/validate'",
      "import { r4 } from '@fhir-ops/r4'",
      '',
      `const resource = ${templateOf(textOf(input, RESOURCE))}`,
      'const ctx = createContext({ storage: memoryStorage(), ...r4() })',
      `const { valid, findings } = await validate(ctx, ${literal(given).replace('{ ', '{ resource, ')})`,
      'console.log(valid, findings)',
      '',
    ].join('\n')
  },
  picture: ({ json }, host) => validationPicture(issuesIn(json) ?? [], host),
}

/** The text as a template where that says the same, since a template keeps its lines. */
function templateOf(text: string): string {
  return /`|\$\{/.test(text) ? JSON.stringify(text) : `String.raw\`${text}\``
}

/** The type that the text states, also where it is no JSON yet. @throws {TypeError} without one. */
function typeIn(text: string): string {
  checkNoXml(text)
  const [, type] = /["']?resourceType["']?\s*:\s*["']([A-Za-z]+)["']/.exec(text) ?? []
  const found = type ?? typeOfJson(text)
  if (found === undefined) throw new TypeError('The text names no resourceType, such as "resourceType": "Patient".')
  return found
}

function typeOfJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? stringAt(value, 'resourceType') : undefined
  } catch {
    return undefined
  }
}

function validationPicture(issues: readonly Issue[], host: PictureHost): HTMLElement {
  const editor = host.editor(RESOURCE)
  const findings = issues.filter(({ text }) => text !== 'All OK')
  editor?.showIssues(findings)
  const errors = findings.filter(isError).length
  const others = findings.length - errors
  const fixable = findings.filter(({ fix }) => fix !== undefined)
  const again = (): void => host.runWith({})
  return element(
    'div',
    {},
    verdict(
      errors > 0 ? 'bad' : others > 0 ? 'warn' : 'good',
      errors > 0 ? `${counted(errors, 'error')}${others > 0 ? `, ${counted(others, 'other finding')}` : ''}.` : 'Valid',
      errors === 0 && (others > 0 ? `, with ${counted(others, 'finding')}.` : '. No findings.'),
    ),
    fixable.length > 1 &&
      button(
        `Fix ${fixable.length} findings`,
        () => {
          // From the last to the first, so that indexes keep their meaning.
          for (const issue of fixable.toReversed()) editor?.applyFix(issue)
          again()
        },
        { class: 'button primary fix-all' },
      ),
    findingsPicture(findings, {
      goTo: (issue) => editor?.goTo(issue),
      fix: (issue) => {
        editor?.applyFix(issue)
        again()
      },
    }),
  )
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
