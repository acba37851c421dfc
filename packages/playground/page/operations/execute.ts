import { element } from '../dom/element.js'
import { verdict } from '../pictures/verdict.js'
import { fieldOf, textOf, type Input, type OperationPage } from './operation-page.js'
import { literal } from './program.js'

const BODY = 'body'
const TYPES = [
  ['application/json', 'JSON'],
  ['application/fhir+json', 'FHIR resource'],
  ['application/x-www-form-urlencoded', 'form'],
  ['text/plain', 'text'],
  ['x-application/hl7-v2+er7', 'HL7 v2 message'],
] as const

/** @throws {TypeError} without one. */
function botIn(input: Input): string {
  const bot = fieldOf(input, 'bot')
  if (bot === '') throw new TypeError('Name a bot by its id.')
  return bot
}

/** `$execute`: what a bot of the server returns. */
export const executePage: OperationPage = {
  id: 'execute',
  title: '$execute',
  group: 'Bots',
  purpose: 'Run a bot of a server on an input.',
  isManual: true,
  needsServer: 'Bots run on a server, in a sandbox of their own. `npm start` brings one, with these three bots, and serves this page too.',
  fields: [
    { name: 'bot', label: 'Bot', placeholder: 'its id' },
    { name: 'type', label: 'Input is', kind: 'choice', choices: TYPES },
  ],
  editors: [{ name: BODY, label: 'Input', language: 'text', hint: 'What the bot gets as event.input.' }],
  samples: [
    {
      id: 'bmi',
      title: 'A body mass index',
      fields: { bot: 'bmi', type: 'application/json' },
      texts: { body: '{ "weightKg": 61.5, "heightM": 1.68 }\n' },
    },
    {
      id: 'form',
      title: 'A patient from a form',
      fields: { bot: 'intake-form', type: 'application/x-www-form-urlencoded' },
      texts: { body: 'family=Lovell&given=Ada&birthDate=1980-12-10' },
    },
    {
      id: 'hl7',
      title: 'An acknowledgement of an HL7 v2 message',
      fields: { bot: 'hl7-ack', type: 'x-application/hl7-v2+er7' },
      texts: { body: 'MSH|^~\\&|LAB|CITY|APP|CLINIC|20260203093000||ORU^R01|42|P|2.5.1\nPID|1||7||LOVELL^ADA' },
    },
  ],
  call: (input) => ({
    method: 'POST',
    path: `/Bot/${encodeURIComponent(botIn(input))}/$execute`,
    // Segments of HL7 v2 end with a carriage return.
    body: {
      type: fieldOf(input, 'type'),
      text: fieldOf(input, 'type').includes('hl7') ? textOf(input, BODY).replaceAll('\n', '\r') : textOf(input, BODY),
    },
  }),
  code: (input) =>
    [
      "import { openBotSandbox } from '@fhir-ops/bot-sandbox'",
      "import { createContext } from 'fhir-ops/context'",
      "import { createBots, execute } from 'fhir-ops/execute'",
      "import { openSqlite } from '@fhir-ops/sqlite'",
      '',
      "const { storage } = await openSqlite('content.db')",
      'const ctx = { ...createContext({ storage }), bots: createBots({ runtime: openBotSandbox() }) }',
      `const input = ${JSON.stringify(textOf(input, BODY))}`,
      `const { value } = await execute(ctx, { bot: { id: ${literal(fieldOf(input, 'bot'))} }, input: ${fieldOf(input, 'type').includes('json') ? 'JSON.parse(input)' : 'input'} })`,
      'console.log(value)',
      '',
    ].join('\n'),
  picture: ({ json, text, type, status }) =>
    element(
      'div',
      {},
      verdict('good', status === 204 ? 'The bot returned nothing.' : `The bot returned ${type}.`),
      text !== '' &&
        element(
          'pre',
          { class: 'value', tabindex: 0, role: 'group', 'aria-label': 'What the bot returned' },
          json === undefined ? text.replaceAll('\r', '\n') : JSON.stringify(json, null, 2),
        ),
    ),
}
