import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { extensionAt, isObject, stringAt, type JsonObject } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'

const STANDARDS_STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'

/** The statuses of a definition that go with each standards status. */
const STATUSES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['draft', ['draft']],
  ['normative', ['active']],
  ['trial-use', ['draft', 'active']],
  ['informative', ['draft', 'active', 'retired']],
  ['deprecated', ['retired']],
  ['withdrawn', ['retired']],
  ['external', ['draft', 'active', 'retired']],
])

/** Checks that a definition's status goes with its standards status, and that its version can stand in a canonical. */
export function checkStatus(run: Run, node: FhirNode): void {
  const { type, value } = node
  if (!isObject(value) || type.elements.get('url')?.[0]?.type !== 'uri' || !type.elements.has('status')) return
  for (const text of [standingProblem(value), versionProblem(value)])
    if (text !== undefined) run.sink.report('definition-status', node, { text })
}

function standingProblem(definition: JsonObject): string | undefined {
  const status = stringAt(definition, 'status')
  const standing = extensionAt(definition, STANDARDS_STATUS)?.['valueCode']
  const fitting = STATUSES.get(standing)
  if (status === undefined || fitting === undefined || fitting.includes(status)) return undefined
  return `The status ${quoted(status)} does not go with the standards status ${quoted(String(standing))}.`
}

function versionProblem(definition: JsonObject): string | undefined {
  const version = stringAt(definition, 'version')
  return version?.includes('#') === true
    ? `The version ${quoted(version)} cannot stand in a canonical, where '#' begins a fragment.`
    : undefined
}
