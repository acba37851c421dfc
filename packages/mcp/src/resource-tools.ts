import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { compact, answerOf, COUNT, numberIn, objectOf, text, textIn, type Tool } from './tool.js'

const TYPE = { ...text('Resource type, such as Patient'), pattern: '^[A-Z][A-Za-z]{1,63}$' }
const ID = { ...text('Id of the resource'), pattern: '^[A-Za-z0-9.-]{1,64}$' }

const validateTool: Tool = {
  name: 'validate',
  title: 'What is wrong with a resource',
  description:
    'Validates a FHIR R4 resource against R4, the profiles that it names and those that are given. Answers each finding with its place and severity. Nothing is stored.',
  inputSchema: objectOf(
    {
      resource: { type: 'object', required: ['resourceType'], description: 'The resource as JSON' },
      profile: text('Canonical of a profile to conform to'),
    },
    ['resource'],
  ),
  outputSchema: answerOf({ valid: { type: 'boolean' }, findings: { type: 'array', items: { type: 'object' } } }, ['valid', 'findings']),
  isReadOnly: true,
  async run({ ask }, { resource, ...input }) {
    const given = isObject(resource) ? resource : {}
    const type = stringAt(given, 'resourceType') ?? ''
    const outcome = await ask({ path: `${encodeURIComponent(type)}/$validate`, query: { profile: textIn(input, 'profile') }, body: given })
    const findings = objectsAt(outcome, 'issue')
      .filter(({ code }) => code !== 'informational')
      .map(findingOf)
    return { valid: findings.every(({ severity }) => severity !== 'error' && severity !== 'fatal'), findings }
  },
}

function findingOf(issue: JsonObject): JsonObject {
  const { severity, expression, diagnostics } = issue
  const [place] = Array.isArray(expression) ? expression : []
  return {
    severity,
    ...(place !== undefined && { place }),
    text: stringAt(objectAt(issue, 'details'), 'text') ?? '',
    ...(diagnostics !== undefined && { hint: diagnostics }),
  }
}

const readTool: Tool = {
  name: 'read',
  title: 'A stored resource',
  description: 'Reads a resource by type and id, without its narrative.',
  inputSchema: objectOf({ type: TYPE, id: ID }, ['type', 'id']),
  outputSchema: answerOf({ resource: { type: 'object' } }, ['resource']),
  isReadOnly: true,
  async run({ ask }, input) {
    return { resource: compact(await ask({ path: `${textIn(input, 'type')}/${textIn(input, 'id')}` })) }
  },
}

const searchTool: Tool = {
  name: 'search',
  title: 'Stored resources by their values',
  description:
    'FHIR search, for example type Observation with parameters "subject=Patient/1&code=http://loinc.org|8480-6". Answers a page without narratives; next continues.',
  inputSchema: objectOf(
    {
      type: TYPE,
      parameters: { type: 'string', maxLength: 2_000, description: 'Search parameters as in a URL, without the question mark' },
      count: COUNT,
      next: text('What the page before answered as next'),
    },
    ['type'],
  ),
  outputSchema: answerOf(
    { total: { type: 'integer' }, resources: { type: 'array', items: { type: 'object' } }, next: { type: 'string' } },
    ['resources'],
  ),
  isReadOnly: true,
  async run({ ask }, input) {
    const pairs = new URLSearchParams(textIn(input, 'next') ?? textIn(input, 'parameters') ?? '')
    if (!pairs.has('_count')) pairs.set('_count', String(numberIn(input, 'count', 20)))
    const bundle = await ask({ path: `${textIn(input, 'type')}?${pairs}` })
    const { total } = bundle
    const next = objectsAt(bundle, 'link').find(({ relation }) => relation === 'next')
    const query = stringAt(next, 'url')?.split('?')[1]
    return {
      ...(typeof total === 'number' && { total }),
      resources: objectsAt(bundle, 'entry').map((entry) => compact(objectAt(entry, 'resource') ?? {})),
      ...(query !== undefined && { next: query }),
    }
  },
}

const evaluateTool: Tool = {
  name: 'evaluate_measure',
  title: 'The counts of a measure',
  description: 'Evaluates a stored Measure over a period. Answers the count of each population.',
  inputSchema: objectOf({ id: ID, periodStart: text('First day, such as 2026-01-01'), periodEnd: text('Last day') }, [
    'id',
    'periodStart',
    'periodEnd',
  ]),
  outputSchema: answerOf({ report: { type: 'object' } }, ['report']),
  isReadOnly: true,
  async run({ ask }, input) {
    const parameter = ['periodStart', 'periodEnd'].map((name) => ({ name, valueDate: textIn(input, name) }))
    const report = await ask({ path: `Measure/${textIn(input, 'id')}/$evaluate-measure`, body: { resourceType: 'Parameters', parameter } })
    return { report: compact(report) }
  },
}

/** Neither `{}` nor a list of types, because some clients accept neither. */
const ANY_JSON = { anyOf: ['object', 'array', 'string', 'number', 'boolean'].map((type) => ({ type })) }

const executeTool: Tool = {
  name: 'execute_bot',
  title: 'Run a bot',
  description: 'Runs a stored bot on a JSON object. What it does depends on the bot; read Bot/<id> for its name and inputSchema.',
  inputSchema: objectOf({ id: ID, input: { type: 'object', description: 'What the bot gets as event.input' } }, ['id', 'input']),
  outputSchema: answerOf({ output: ANY_JSON }, []),
  isReadOnly: false,
  async run({ ask }, { input, ...others }) {
    const answer = await ask({ path: `Bot/${textIn(others, 'id')}/$execute`, body: isObject(input) ? input : {} })
    // In this order, because listing the names of an object with very many takes long.
    const isPlain = 'value' in answer && Object.keys(answer).length === 1
    return { output: isPlain ? answer['value'] : answer }
  },
}

const schemaTool: Tool = {
  name: 'json_schema',
  title: 'The JSON Schema of a type or profile',
  description:
    'Answers the JSON Schema (draft 2020-12) of a FHIR type (Patient) or of a profile by its canonical. Use it before you write a resource.',
  inputSchema: objectOf({ url: text('Name of a type, or canonical of a StructureDefinition') }, ['url']),
  outputSchema: answerOf({ schema: { type: 'object' } }, ['schema']),
  isReadOnly: true,
  run: async ({ schemaOf }, input) => ({ schema: await schemaOf(textIn(input, 'url') ?? '') }),
}

/** Tools about resources. */
export const RESOURCE_TOOLS: readonly Tool[] = [validateTool, readTool, searchTool, evaluateTool, executeTool, schemaTool]
