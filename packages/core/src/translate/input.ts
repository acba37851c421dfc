import type { CodeableConcept, Coding } from 'fhir/r4.js'
import { OperationError, quoted } from '../errors/index.js'
import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import { parameterReader, type Parameter, type ParameterReader } from '../parameters/index.js'
import { ambiguousSource } from './source-codes.js'
import type { TranslateDependency, TranslateInput } from './translation.js'

/** Names of FHIR R5 that stand for those of R4. Their use also asks for the output names of R5. */
const R5_NAMES = ['sourceCode', 'sourceSystem', 'sourceCoding', 'sourceCodeableConcept', 'targetSystem']
/** The ways of FHIR R5 to ask in reverse. */
const TARGETS = ['targetCode', 'targetCoding', 'targetCodeableConcept']
const SOURCES = [
  ['code', 'sourceCode'],
  ['coding', 'sourceCoding'],
  ['codeableConcept', 'sourceCodeableConcept'],
  ...TARGETS.map((name) => [name]),
]

/** What a call asks for, and in which release's names the answer is to be given. */
export interface TranslateCall {
  readonly input: TranslateInput
  readonly names: 'R4' | 'R5'
}

/**
 * Reads the inputs of `$translate`. Names that nobody defines are ignored unless the request is strict.
 *
 * @throws {OperationError} `source-ambiguous`, `parameter-required`, `parameter-invalid`, `parameter-value`.
 */
export function readTranslate(request: OperationRequest): TranslateCall {
  const reader = parameterReader(request.parameters)
  const input: TranslateInput = {
    mapId: request.id,
    url: reader.text('url'),
    mapVersion: reader.text('conceptMapVersion'),
    source: reader.text('source'),
    target: reader.text('target'),
    conceptMap: reader.resource('conceptMap'),
    resources: reader.resources('tx-resource'),
    dependencies: reader.all('dependency').map(dependencyOf),
    ...conceptOf(reader),
    explain: reader.boolean('_explain'),
  }
  if (request.strict) reader.refuseUnknown()
  return { input, names: reader.all(...R5_NAMES, ...TARGETS).length > 0 ? 'R5' : 'R4' }
}

type ConceptInput = Pick<TranslateInput, 'coding' | 'codeableConcept' | 'targetSystem' | 'reverse'>

function conceptOf(reader: ParameterReader): ConceptInput {
  const sources = SOURCES.filter((names) => reader.all(...names).length > 0)
  if (sources.length > 1) throw ambiguousSource(reader.all(...sources.flat()).map((parameter) => parameter.expression))
  const reverse = reader.boolean('reverse')
  if (reader.all(...TARGETS).length > 0) return fromTarget(reader)
  const targetSystem = reader.text('targetsystem', 'targetSystem')
  const code = reader.text('code', 'sourceCode')
  const system = reader.text('system', 'sourceSystem')
  const version = reader.text('version')
  if (code !== undefined) return { coding: codeOf(code, system, version), targetSystem, reverse }
  refuseWithoutCode({ system, version })
  const coding = optional(reader.object('Coding', 'coding', 'sourceCoding'), readCoding)
  const codeableConcept = optional(reader.object('CodeableConcept', 'codeableConcept', 'sourceCodeableConcept'), readConcept)
  return { coding, codeableConcept, targetSystem, reverse }
}

/** R5's ways to ask in reverse: a concept of the target, optionally kept to one `sourceSystem`. */
function fromTarget(reader: ParameterReader): ConceptInput {
  const system = reader.text('targetsystem', 'targetSystem')
  const code = reader.text('targetCode')
  if (code !== undefined && system === undefined) throw required("A 'targetCode' needs its 'targetSystem'.", 'targetSystem')
  return {
    coding: code === undefined ? optional(reader.object('Coding', 'targetCoding'), readCoding) : { system, code },
    codeableConcept: optional(reader.object('CodeableConcept', 'targetCodeableConcept'), readConcept),
    targetSystem: reader.text('system', 'sourceSystem'),
    reverse: true,
  }
}

function codeOf(code: string, system: string | undefined, version: string | undefined): Coding {
  if (system === undefined) throw required("A 'code' needs its 'system'.", 'system')
  return { system, code, ...(version !== undefined && { version }) }
}

function refuseWithoutCode(companions: Readonly<Record<string, string | undefined>>): void {
  const [alone] = Object.entries(companions).find(([, value]) => value !== undefined) ?? []
  if (alone === undefined) return
  throw required(`Parameter ${quoted(alone)} is given without 'code'.`, 'code')
}

function readConcept(value: JsonObject): CodeableConcept {
  const text = stringAt(value, 'text')
  return { coding: objectsAt(value, 'coding').map(readCoding), ...(text !== undefined && { text }) }
}

function readCoding(value: JsonObject): Coding {
  const [system, version, code] = ['system', 'version', 'code'].map((member) => stringAt(value, member))
  return {
    ...(system !== undefined && { system }),
    ...(version !== undefined && { version }),
    ...(code !== undefined && { code }),
  }
}

function dependencyOf(parameter: Parameter): TranslateDependency {
  const reader = parameterReader(parameter.parts)
  const element = reader.text('element')
  const concept = reader.object('CodeableConcept', 'concept')
  if (element === undefined || concept === undefined) {
    throw required("A 'dependency' needs its parts 'element' and 'concept'.", parameter.expression)
  }
  reader.refuseUnknown()
  return { element, concept: readConcept(concept) }
}

function optional<A, B>(value: A | undefined, convert: (value: A) => B): B | undefined {
  return value === undefined ? undefined : convert(value)
}

function required(message: string, name: string): OperationError {
  return new OperationError('parameter-required', message, { expression: [name] })
}
