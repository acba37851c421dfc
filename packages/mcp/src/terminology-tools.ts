import { objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import {
  explanationIn,
  parameterAt,
  parametersAt,
  partAt,
  shortCoding,
  valueIn,
  answerOf,
  CODE,
  COUNT,
  REASONS,
  numberIn,
  objectOf,
  text,
  textIn,
  type Tool,
} from './tool.js'

const CODING: JsonObject = { type: 'object', description: 'system, code and display' }

const expandTool: Tool = {
  name: 'expand',
  title: 'Codes of a value set',
  description:
    'Lists the codes of a FHIR value set, or those whose text has the words of the filter. Use it to find the code for a term. Answers a page; nextOffset continues.',
  inputSchema: objectOf(
    {
      url: text('Canonical of the ValueSet'),
      filter: text('Words that the display or a designation must have'),
      offset: { type: 'integer', minimum: 0, default: 0, description: 'How many codes to skip' },
      count: COUNT,
      displayLanguage: text('Language of the displays, such as de'),
    },
    ['url'],
  ),
  outputSchema: answerOf(
    { total: { type: 'integer' }, codes: { type: 'array', items: CODING }, nextOffset: { type: 'integer' }, explanation: REASONS },
    ['codes'],
  ),
  isReadOnly: true,
  async run({ ask }, input) {
    const [offset, count] = [numberIn(input, 'offset', 0), numberIn(input, 'count', 20)]
    const { url, filter, displayLanguage } = texts(input, ['url', 'filter', 'displayLanguage'])
    const query = { url, filter, displayLanguage, offset, count, excludeNested: true, _explain: true }
    const answer = await ask({ path: 'ValueSet/$expand', query })
    const expansion = objectAt(answer, 'expansion')
    const codes = objectsAt(expansion, 'contains').map(shortCoding)
    const total = expansion?.['total']
    const isMore = typeof total === 'number' ? offset + codes.length < total : codes.length === count
    return {
      ...(typeof total === 'number' && { total }),
      codes,
      ...(isMore && codes.length > 0 && { nextOffset: offset + codes.length }),
      ...explained(answer),
    }
  },
}

const lookupTool: Tool = {
  name: 'lookup',
  title: 'What a code means',
  description: 'Answers display, definition, designations and properties of a code in its code system.',
  inputSchema: objectOf({ ...CODE, version: text('Version of the code system'), displayLanguage: text('Language, such as de') }, [
    'system',
    'code',
  ]),
  outputSchema: answerOf(
    {
      display: { type: 'string' },
      definition: { type: 'string' },
      designations: { type: 'array', items: { type: 'object' } },
      properties: { type: 'array', items: { type: 'object' } },
      explanation: REASONS,
    },
    [],
  ),
  isReadOnly: true,
  async run({ ask }, input) {
    const query = { ...texts(input, ['system', 'code', 'version', 'displayLanguage']), property: '*', _explain: true }
    const answer = await ask({ path: 'CodeSystem/$lookup', query })
    const designations = parametersAt(answer, 'designation').map((one) => ({
      language: valueIn(partAt(one, 'language')),
      value: valueIn(partAt(one, 'value')),
    }))
    const properties = parametersAt(answer, 'property').map((one) => ({
      code: valueIn(partAt(one, 'code')),
      value: valueIn(partAt(one, 'value')),
    }))
    return {
      ...valuesAt(answer, ['name', 'version', 'display', 'definition']),
      ...(designations.length > 0 && { designations }),
      ...(properties.length > 0 && { properties }),
      ...explained(answer),
    }
  },
}

const validateCodeTool: Tool = {
  name: 'validate_code',
  title: 'Whether a code is right',
  description: 'Says whether a code, and its display if given, is right in its code system, or in a value set if one is given.',
  inputSchema: objectOf(
    {
      ...CODE,
      display: text('Display to check'),
      valueSet: text('Canonical of the ValueSet that the code must be in'),
      version: text('Version of the code system'),
    },
    ['system', 'code'],
  ),
  outputSchema: answerOf({ valid: { type: 'boolean' }, display: { type: 'string' }, message: { type: 'string' }, explanation: REASONS }, [
    'valid',
  ]),
  isReadOnly: true,
  async run({ ask }, input) {
    const { system, code, display, valueSet, version } = texts(input, ['system', 'code', 'display', 'valueSet', 'version'])
    const answer =
      valueSet === undefined
        ? await ask({ path: 'CodeSystem/$validate-code', query: { url: system, code, display, version, _explain: true } })
        : await ask({
            path: 'ValueSet/$validate-code',
            query: { url: valueSet, system, code, display, systemVersion: version, _explain: true },
          })
    return { valid: valueIn(parameterAt(answer, 'result')) === true, ...valuesAt(answer, ['display', 'message']), ...explained(answer) }
  },
}

const subsumesTool: Tool = {
  name: 'subsumes',
  title: 'How two codes relate',
  description:
    'Says how two codes of one code system relate: equivalent, subsumes (the first is above the second), subsumed-by or not-subsumed.',
  inputSchema: objectOf({ system: text('Canonical of the code system'), codeA: text('First code'), codeB: text('Second code') }, [
    'system',
    'codeA',
    'codeB',
  ]),
  outputSchema: answerOf({ outcome: { type: 'string' }, explanation: REASONS }, ['outcome']),
  isReadOnly: true,
  async run({ ask }, input) {
    const answer = await ask({ path: 'CodeSystem/$subsumes', query: { ...texts(input, ['system', 'codeA', 'codeB']), _explain: true } })
    return { ...valuesAt(answer, ['outcome']), ...explained(answer) }
  },
}

const translateTool: Tool = {
  name: 'translate',
  title: 'A code in another code system',
  description: 'Translates a code with the ConceptMap of a canonical (url), or with every map from a value set (source).',
  inputSchema: {
    ...objectOf(
      {
        ...CODE,
        url: text('Canonical of the ConceptMap'),
        source: text('Canonical of the ValueSet that the code was chosen from'),
        targetSystem: text('Only translations into this code system'),
        reverse: { type: 'boolean', description: 'From target to source' },
      },
      ['system', 'code'],
    ),
    anyOf: [{ required: ['url'] }, { required: ['source'] }],
  },
  outputSchema: answerOf(
    {
      result: { type: 'boolean' },
      matches: { type: 'array', items: { type: 'object' } },
      message: { type: 'string' },
      explanation: REASONS,
    },
    ['result', 'matches'],
  ),
  isReadOnly: true,
  async run({ ask }, input) {
    const { targetSystem, ...others } = texts(input, ['system', 'code', 'url', 'source', 'targetSystem'])
    const query = { ...others, targetsystem: targetSystem, ...(input['reverse'] === true && { reverse: true }), _explain: true }
    const answer = await ask({ path: 'ConceptMap/$translate', query })
    const matches = parametersAt(answer, 'match').map((match) => ({
      equivalence: valueIn(partAt(match, 'equivalence')),
      ...shortCoding(objectAt(partAt(match, 'concept'), 'valueCoding')),
    }))
    return { result: valueIn(parameterAt(answer, 'result')) === true, matches, ...valuesAt(answer, ['message']), ...explained(answer) }
  },
}

/** Tools about codes. */
export const TERMINOLOGY_TOOLS: readonly Tool[] = [expandTool, lookupTool, validateCodeTool, subsumesTool, translateTool]

function texts<Name extends string>(input: JsonObject, names: readonly Name[]): { readonly [N in Name]?: string }
function texts(input: JsonObject, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = textIn(input, name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function valuesAt(answer: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = valueIn(parameterAt(answer, name))
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function explained(answer: JsonObject): JsonObject {
  const explanation = explanationIn(answer)
  return explanation.length === 0 ? {} : { explanation }
}
