import type { FhirNode } from '../../fhirpath/index.js'
import type { ElementRule } from '../run/element-rule.js'
import type { NodeCheck, Run } from '../run/run.js'
import { checkCoding, checkUnit } from './codes/check-coding.js'
import { checkStatus } from './codes/check-status.js'
import { checkAttachment, checkIdentifier } from './datatypes.js'
import { checkExtension } from './extension/check-extension.js'
import { checkExtensionContext } from './extension/extension-context.js'
import { checkNarrative } from './narrative/check-narrative.js'
import { checkExampleUrl, checkFragment } from './primitive/check-uri.js'
import { checkReference } from './reference/check-reference.js'
import { RESOURCE_RULES } from './resource-rules.js'
import { checkResource } from './resource.js'

/** What is checked on every resource, whatever its type. */
const ON_RESOURCES: readonly NodeCheck[] = [checkResource]

/** What is checked on URIs; `isCheckedByType` knows which of them these pass over. */
const ON_URIS: readonly NodeCheck[] = [checkFragment, checkExampleUrl]

/** What is checked on every node of a type beyond its ElementDefinitions. A new kind of rule is a file and a line here. */
const BY_TYPE: ReadonlyMap<string, readonly NodeCheck[]> = new Map<string, readonly NodeCheck[]>([
  ['Attachment', [checkAttachment]],
  ['CodeableConcept', [checkStatus]],
  ['Coding', [checkCoding, checkStatus]],
  ['canonical', ON_URIS],
  ['uri', ON_URIS],
  ['url', ON_URIS],
  ['Identifier', [checkIdentifier]],
  ['Extension', [checkExtension, checkExtensionContext]],
  ...['Quantity', 'Age', 'Count', 'Distance', 'Duration'].map((type): [string, readonly NodeCheck[]] => [type, [checkUnit]]),
  ['Reference', [checkReference]],
  ['xhtml', [checkNarrative]],
])

/** Applies all checks that are registered for the type of a node. */
export function checkByType(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (node.type.kind === 'resource') checkWhole(run, node, rules)
  else for (const check of BY_TYPE.get(node.type.name) ?? NONE) check(run, node, rules)
}

function checkWhole(run: Run, resource: FhirNode, rules: readonly ElementRule[]): void {
  for (const check of ON_RESOURCES) check(run, resource, rules)
  for (const check of RESOURCE_RULES.get(resource.type.name) ?? []) run.later(() => check(run, resource))
}

/** Whether the checks of a primitive type have anything to look at in a value. */
export function isCheckedByType(run: Run, type: string, value: unknown): boolean {
  const checks = BY_TYPE.get(type)
  if (checks === ON_URIS) return run.refuses.has('examples') || typeof value !== 'string' || value.startsWith('#')
  return checks !== undefined
}

const NONE: readonly NodeCheck[] = []
