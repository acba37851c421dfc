import type { NodeCheck } from '../walk/run.js'
import { checkCoding } from './coding/check-coding.js'
import { checkExtension } from './extension/check-extension.js'
import { checkReference } from './reference/check-reference.js'

/** What is checked on every node of a type beyond its ElementDefinitions. A new kind of rule is a file and a line here. */
export const CHECKS_BY_TYPE: ReadonlyMap<string, readonly NodeCheck[]> = new Map<string, readonly NodeCheck[]>([
  ['Coding', [checkCoding]],
  ['Extension', [checkExtension]],
  ['Reference', [checkReference]],
])
